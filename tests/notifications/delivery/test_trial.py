"""`flask messaging test NUMBER` sends one message, and prints the provider's response."""

from app.notifications.delivery import trial

NUMBER = "0812-3456-7890"


def run(app, number=NUMBER):
    return app.test_cli_runner().invoke(args=["messaging", "test", number])


def test_one_message_is_sent_and_the_reference_of_the_provider_is_printed(app, sim, fonnte):
    result = run(app)
    assert result.exit_code == 0, result.output
    ((message),) = sim.messaging.sent
    assert (message.target, message.text) == ("6281234567890", trial.TEXT)
    assert f"fonnte accepted it as {message.ref}." in result.output


def test_a_refusal_is_printed(app, sim, configure):
    for provider, fault, said in (
        ("whatsapp_cloud", "code_190", "Error validating access token"),
        ("fonnte", "token_invalid", "token invalid\n"),
    ):
        configure(MESSAGING_PROVIDER=provider)
        sim.fault("messaging", fault)
        result = run(app)
        assert result.exit_code == 1
        assert result.output.startswith(f"Error: {provider} refused: "), result.output
        assert said in result.output


def test_the_command_fails_if_the_provider_is_unavailable(app, sim, fonnte):
    fonnte(MESSAGING_URL="http://127.0.0.1:1")
    assert run(app).exit_code == 1


def test_an_invalid_number_is_refused_and_nothing_is_sent(app, sim, fonnte):
    for number in ("siti", "", "+14155552671"):
        result = run(app, number)
        assert result.exit_code == 1
        assert "is no phone number" in result.output
    assert sim.messaging.sent == []


def test_the_command_fails_if_the_provider_is_the_outbox(app):
    result = run(app)
    assert result.exit_code == 1
    assert "MESSAGING_PROVIDER is outbox" in result.output
