"""The sections of the API, in the order of the specification."""

from __future__ import annotations

from app.accounts import otp_routes as otp
from app.accounts import routes as accounts
from app.admins import routes as admins
from app.articles import routes as articles
from app.caregivers import routes as caregivers
from app.console import pages as console_pages
from app.console import routes as console
from app.core.web.blueprint import Blueprint, PageBlueprint
from app.dokter import routes as dokter
from app.emergency import routes as emergency
from app.faskes import routes as faskes
from app.forum import moderation_routes as moderasi
from app.forum import routes as forum
from app.inbox import routes as inbox
from app.kategori import routes as kategori
from app.komunitas import routes as komunitas
from app.logs import routes as logs
from app.pengingat import routes as pengingat
from app.pengingat.one_tap import pages as pengingat_pages
from app.pengingat.one_tap import routes as pengingat_links
from app.personal_data import routes as personal_data
from app.privacy import routes as privacy
from app.province_config import routes as province_config
from app.push import routes as push
from app.roles import routes as roles
from app.superadmin import routes as superadmin
from app.videos import routes as videos


def blueprints() -> list[Blueprint]:
    """Return the blueprints of all sections. The imports also load the models, because migrations need every table."""
    people = (accounts, otp, caregivers, roles, kategori)
    content = (faskes, forum, articles, videos, komunitas, dokter, emergency, province_config)
    delivery = (pengingat, pengingat_links, push, logs)
    administration = (privacy, personal_data, admins, moderasi, superadmin, inbox, console)
    return [section.bp for section in (*people, *content, *delivery, *administration)]


def pages() -> list[PageBlueprint]:
    """Return the blueprints of the pages for people. These pages are at the root, not below `/api`."""
    return [pengingat_pages.bp, console_pages.bp]
