-- src/access/guard.ts

-- recordUse
update "apiKeys"
set
  "lastUsedAt" = + :now
where
  (
    "apiKeys"."hash" = + :caller.keyHash
    and (
      "apiKeys"."lastUsedAt" is null
      or "apiKeys"."lastUsedAt" <= :caller.hourAgo
    )
  );

-- src/access/preconditions.ts

-- authorized.check
select
  case
    when "apiKeys"."movedTo" is not null then 'moved'
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
    when "apiKeys"."suspendedAt" is not null then 'suspended'
  end as "keyEnd",
  "movedTo" as "movedTo",
  (
    :caller.scope is null
    or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
  ) as "isInScope",
  "organizationId" as "callerOrganizationId",
  "userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :caller.hourAgo
  ) as "isLastUsedStale"
from
  "apiKeys"
where
  "apiKeys"."hash" = + :caller.keyHash;

-- src/access/wake.ts

-- selectWakeable
select
  "eventEndpoints"."organizationId" as "organizationId",
  "eventEndpoints"."id" as "id"
from
  "apiKeys"
  inner join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."disabledAt" is null
    and "eventEndpoints"."nextAttemptAt" is null
    and (
      "eventEndpoints"."leaseId" is null
      or "eventEndpoints"."leaseExpiresAt" <= :now
    )
    and exists (
      select
        1
      from
        "auditEvents" "recorded"
      where
        (
          "recorded"."organizationId" = "apiKeys"."organizationId"
          and "recorded"."sequence" >= :event.firstSequence
          and "recorded"."requestId" = + :event.requestId
          and (
            (
              "eventEndpoints"."types" is null
              or (
                instr("eventEndpoints"."types", '"' || "recorded"."type" || '"') > 0
                or instr(
                  "eventEndpoints"."types",
                  '"' || substr("recorded"."type", 1, instr("recorded"."type", '.')) || '*' || '"'
                ) > 0
              )
            )
            and (
              "eventEndpoints"."projectId" is null
              or "recorded"."projectId" = "eventEndpoints"."projectId"
            )
          )
        )
    )
  )
where
  (
    "apiKeys"."hash" = + :caller.keyHash
    and (
      :caller.scope is null
      or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
    )
    and (
      "apiKeys"."revokedAt" is null
      or "apiKeys"."revokedAt" = + :now
    )
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" >= :now
    )
    and "apiKeys"."suspendedAt" is null
    and "apiKeys"."movedTo" is null
  );

-- selectWakeableByService
select
  "organizationId" as "organizationId",
  "id" as "id"
from
  "eventEndpoints"
where
  (
    "eventEndpoints"."organizationId" = + :organizationId
    and "eventEndpoints"."disabledAt" is null
    and "eventEndpoints"."nextAttemptAt" is null
    and (
      "eventEndpoints"."leaseId" is null
      or "eventEndpoints"."leaseExpiresAt" <= :now
    )
    and exists (
      select
        1
      from
        "auditEvents" "recorded"
      where
        (
          "recorded"."organizationId" = + :organizationId
          and "recorded"."sequence" >= :event.firstSequence
          and "recorded"."requestId" is null
          and (
            (
              "eventEndpoints"."types" is null
              or (
                instr("eventEndpoints"."types", '"' || "recorded"."type" || '"') > 0
                or instr(
                  "eventEndpoints"."types",
                  '"' || substr("recorded"."type", 1, instr("recorded"."type", '.')) || '*' || '"'
                ) > 0
              )
            )
            and (
              "eventEndpoints"."projectId" is null
              or "recorded"."projectId" = "eventEndpoints"."projectId"
            )
          )
        )
    )
  );
