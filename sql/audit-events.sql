-- src/resources/audit-events/statements.ts

-- listAuditEvents
select
  "id",
  "operation",
  "target",
  "apiKeyId",
  "userId",
  "requestId",
  "createdAt"
from
  "auditEvents"
where
  (
    "auditEvents"."organizationId" = (
      select
        "organizationId"
      from
        "apiKeys"
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and (
              "apiKeys"."revokedAt" is null
              and (
                "apiKeys"."expiresAt" is null
                or "apiKeys"."expiresAt" > :now
              )
            )
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and "apiKeys"."projectIds" is null
        )
    )
    and "auditEvents"."id" < :before
  )
order by
  "auditEvents"."id" desc
limit
  :rowLimit;
