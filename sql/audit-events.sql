-- src/resources/audit-events/statements.ts

-- listable.check
select
  case
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
  end as "keyEnd",
  (
    :caller.scope is null
    or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
  ) as "isInScope",
  "organizationId" as "callerOrganizationId",
  "userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :caller.hourAgo
  ) as "isLastUsedStale",
  "apiKeys"."projectIds" is null as "isUnrestricted"
from
  "apiKeys"
where
  "apiKeys"."hash" = :caller.keyHash;

-- selectAuditEvents
select
  "id",
  "operation",
  "target",
  "apiKeyId",
  "apiKeyName",
  "userId",
  "requestId"
from
  (
    select
      "id",
      "operation",
      "target",
      "apiKeyId",
      "apiKeyName",
      "userId",
      "requestId"
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
                "apiKeys"."hash" = :caller.keyHash
                and case
                  when "apiKeys"."revokedAt" is not null then 'revoked'
                  when "apiKeys"."expiresAt" <= :now then 'expired'
                end is null
                and (
                  :caller.scope is null
                  or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
                )
              )
              and ("apiKeys"."projectIds" is null)
            )
        )
        and "auditEvents"."id" >= :first
        and "auditEvents"."id" < :before
      )
    order by
      "auditEvents"."id" desc
    limit
      + :maxExamined
  ) "examined"
where
  (
    (
      :operation is null
      or "examined"."operation" = :operation
    )
    and (
      :apiKeyId is null
      or "examined"."apiKeyId" = :apiKeyId
    )
    and (
      :userId is null
      or "examined"."userId" = :userId
    )
  )
limit
  + :rowLimit;

-- selectLastExamined
select
  "id"
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
            "apiKeys"."hash" = :caller.keyHash
            and case
              when "apiKeys"."revokedAt" is not null then 'revoked'
              when "apiKeys"."expiresAt" <= :now then 'expired'
            end is null
            and (
              :caller.scope is null
              or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
            )
          )
          and ("apiKeys"."projectIds" is null)
        )
    )
    and "auditEvents"."id" >= :first
    and "auditEvents"."id" < :before
  )
order by
  "auditEvents"."id" desc
limit
  + 1
offset
  2499;
