"""What tests of several pages do: screen sizes of a phone and a desktop computer, pushes, and the outbox."""

from playwright.sync_api import expect

from dev.stack.waiting import wait_until

#: Width and height in pixels.
PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 900}


def deliver_push(page, data):
    """Deliver a push to the service worker of the page, as the browser's push service would."""
    devtools = page.context.new_cdp_session(page)
    registrations = []
    devtools.on("ServiceWorker.workerRegistrationUpdated", lambda event: registrations.extend(event["registrations"]))
    devtools.send("ServiceWorker.enable")
    wait_until(lambda: page.evaluate("1") == 1 and registrations != [])
    where = {"origin": page.evaluate("location.origin"), "registrationId": registrations[0]["registrationId"]}
    devtools.send("ServiceWorker.deliverPushMessage", {**where, "data": data})


def sent_message(page, service, text):
    """Open the developers' page of sent messages. Wait for the message that contains a text."""
    page.goto(f"{service.url}/dev/outbox")
    message = page.locator(".entry", has_text=text).filter(has=page.locator(".state.sent", has_text="sent")).first
    expect(message).to_be_visible()
    return message
