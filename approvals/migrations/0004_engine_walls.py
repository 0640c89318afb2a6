"""Walls of the engine's tables; a trigger that keeps what was bound at submit and every terminal state; what the sweep may look for."""

from django.db import migrations

from rag4c.scope.operations import AddTenantForeignKey, EnableTenantRLS

TABLES = {
    "approvals_stage": "SELECT, INSERT",
    "approvals_approvalrequest": "SELECT, INSERT, UPDATE",
    "approvals_vote": "SELECT, INSERT",
    "approvals_comment": "SELECT, INSERT",
    "approvals_delegation": "SELECT, INSERT, UPDATE",
    "approvals_absence": "SELECT, INSERT, UPDATE",
    "approvals_permit": "SELECT, INSERT, UPDATE",
    "approvals_execution": "SELECT, INSERT",
    "approvals_breakglass": "SELECT, INSERT, UPDATE",
}
FOREIGN_KEYS = (
    ("approvals_stage", "policy_id", "approvals_actionpolicy"),
    ("approvals_approvalrequest", "policy_id", "approvals_actionpolicy"),
    ("approvals_approvalrequest", "requester_id", "tenants_user"),
    ("approvals_vote", "request_id", "approvals_approvalrequest"),
    ("approvals_vote", "voter_id", "tenants_user"),
    ("approvals_vote", "principal_id", "tenants_user"),
    ("approvals_vote", "delegation_id", "approvals_delegation"),
    ("approvals_comment", "request_id", "approvals_approvalrequest"),
    ("approvals_delegation", "delegator_id", "tenants_user"),
    ("approvals_delegation", "delegate_id", "tenants_user"),
    ("approvals_absence", "user_id", "tenants_user"),
    ("approvals_permit", "request_id", "approvals_approvalrequest"),
    ("approvals_execution", "request_id", "approvals_approvalrequest"),
    ("approvals_execution", "permit_id", "approvals_permit"),
    ("approvals_breakglass", "request_id", "approvals_approvalrequest"),
)

KEEP = """
CREATE FUNCTION rag4c_keep_request() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (OLD.action, OLD.policy_id, OLD.payload, OLD.payload_sha256, OLD.subject_kind, OLD.subject_id, OLD.subject_rev, OLD.requested_by, OLD.requester_id,
        OLD.beneficiaries, OLD.floors, OLD.submitted_at)
       IS DISTINCT FROM
       (NEW.action, NEW.policy_id, NEW.payload, NEW.payload_sha256, NEW.subject_kind, NEW.subject_id, NEW.subject_rev, NEW.requested_by, NEW.requester_id,
        NEW.beneficiaries, NEW.floors, NEW.submitted_at) THEN
        RAISE EXCEPTION 'what a request binds is frozen at submit' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF OLD.state IN ('executed', 'failed', 'rejected', 'expired', 'superseded', 'cancelled') AND NEW.state <> OLD.state THEN
        RAISE EXCEPTION 'a request has one terminal outcome' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER approvals_request_kept BEFORE UPDATE ON approvals_approvalrequest FOR EACH ROW EXECUTE FUNCTION rag4c_keep_request();
"""
KEEP_BACK = """
DROP TRIGGER approvals_request_kept ON approvals_approvalrequest;
DROP FUNCTION rag4c_keep_request();
"""
DUE = """
CREATE FUNCTION rag4c_due_approvals(p_limit integer) RETURNS TABLE (tenant_id uuid, request_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ (SELECT r.tenant_id, r.id FROM public.approvals_approvalrequest r
       WHERE r.state IN ('pending', 'approved') AND r.wake_at <= pg_catalog.clock_timestamp() ORDER BY r.wake_at LIMIT p_limit)
      UNION ALL
      (SELECT b.tenant_id, b.request_id FROM public.approvals_breakglass b
       WHERE b.state = 'open' AND b.review_by <= pg_catalog.clock_timestamp() ORDER BY b.review_by LIMIT p_limit) $$;
GRANT EXECUTE ON FUNCTION rag4c_due_approvals(integer) TO rag4c_system;
"""
DUE_BACK = "DROP FUNCTION rag4c_due_approvals(integer);"


class Migration(migrations.Migration):
    dependencies = [("approvals", "0003_engine"), ("tenants", "0002_walls")]
    operations = [
        *(EnableTenantRLS(table, grants=grants) for table, grants in TABLES.items()),
        *(AddTenantForeignKey(*key) for key in FOREIGN_KEYS),
        migrations.RunSQL(KEEP, KEEP_BACK),
        migrations.RunSQL(DUE, DUE_BACK),
    ]
