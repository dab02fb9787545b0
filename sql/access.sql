-- src/access/audit.ts

-- recordChange
insert into
  "auditEvents" ("organizationId", "id", "operation", "target", "apiKeyId", "apiKeyName", "userId", "requestId")
select
  "organizationId" as "organizationId",
  :audit.id as "id",
  :audit.operation as "operation",
  :audit.target as "target",
  "id" as "apiKeyId",
  "name" as "apiKeyName",
  "userId" as "userId",
  :audit.requestId as "requestId"
from
  "apiKeys"
where
  (
    (
      "apiKeys"."hash" = :caller.keyHash
      and (
        :caller.scope is null
        or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
      )
      and (
        "apiKeys"."revokedAt" is null
        or "apiKeys"."revokedAt" = :now
      )
      and (
        "apiKeys"."expiresAt" is null
        or "apiKeys"."expiresAt" >= :now
      )
    )
    and changes() > 0
  )
on conflict do nothing;

-- src/access/guard.ts

-- recordUse
update "apiKeys"
set
  "lastUsedAt" = :now
where
  (
    "apiKeys"."hash" = :caller.keyHash
    and (
      "apiKeys"."lastUsedAt" is null
      or "apiKeys"."lastUsedAt" <= :caller.hourAgo
    )
  );

-- src/access/preconditions.ts

-- authorized.check
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
  ) as "isLastUsedStale"
from
  "apiKeys"
where
  "apiKeys"."hash" = :caller.keyHash;
