from __future__ import annotations

import pytest

from rag4c.kernel.errors import Conflict, Denied
from rag4c.scope.manager import scope
from tenants import api as tenants
from tenants.models import User
from tests.builders import PASSWORD


def test_SYS_C1_grant_holds_groups_and_roles_in_force_only(acme):
    group = tenants.create_group(actor=acme.alice, slug="hr", name="HR")
    tenants.add_to_group(actor=acme.alice, group_id=group, user_id=acme.bob.user_id)
    grant = tenants.grant_for(tenant_id=acme.id, user_id=acme.bob.user_id)
    assert f"group:{group}" in grant.principals
    tenants.remove_from_group(actor=acme.alice, group_id=group, user_id=acme.bob.user_id)
    after = tenants.grant_for(tenant_id=acme.id, user_id=acme.bob.user_id)
    assert f"group:{group}" not in after.principals
    assert after.acl_rev > grant.acl_rev


def test_member_cannot_create_people(acme):
    with pytest.raises(Denied):
        tenants.create_user(actor=acme.bob, username="charlie", password=PASSWORD)


def test_username_is_unique_per_tenant_in_any_case_and_width(acme, globex):
    tenants.create_user(actor=acme.alice, username="Charlie", password=PASSWORD)
    with pytest.raises(Conflict, match="username_taken"):
        tenants.create_user(actor=acme.alice, username="ｃｈａｒｌｉｅ", password=PASSWORD)
    tenants.create_user(actor=globex.alice, username="charlie", password=PASSWORD)
    with scope(acme.alice.grant):
        assert User.objects.count() == 3


def test_GOV_T1_token_carries_its_tenant_and_dies_when_revoked(acme, globex):
    token = tenants.create_token(actor=acme.bob, user_id=acme.bob.user_id, name="script")
    assert tenants.find_token_actor(token.secret).tenant_id == acme.id
    forged = token.secret.replace(acme.id.hex, globex.id.hex)
    with pytest.raises(Denied, match="token_invalid"):
        tenants.find_token_actor(forged)
    tenants.revoke_token(actor=acme.bob, token_id=token.id)
    with pytest.raises(Denied, match="token_invalid"):
        tenants.find_token_actor(token.secret)


def test_deactivated_person_loses_tokens_at_once(acme):
    token = tenants.create_token(actor=acme.bob, user_id=acme.bob.user_id, name="script")
    tenants.deactivate_user(actor=acme.alice, user_id=acme.bob.user_id)
    with pytest.raises(Denied):
        tenants.find_token_actor(token.secret)


def test_last_admin_stays(acme):
    with pytest.raises(Conflict, match="last_admin"):
        tenants.revoke_role(actor=acme.alice, user_id=acme.alice.user_id, role="tenant_admin")
