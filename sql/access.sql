-- src/access/audit.ts

-- recordChange
insert into
  "auditEvents" ("organizationId", "id", "operation", "target", "apiKeyId", "apiKeyName", "userId", "requestId")
select
  "organizationId" as "organizationId",
  :auditEventId as "id",
  :operation as "operation",
  :target as "target",
  "id" as "apiKeyId",
  "name" as "apiKeyName",
  "userId" as "userId",
  :requestId as "requestId"
from
  "apiKeys"
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
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
    "apiKeys"."hash" = :keyHash
    and (
      "apiKeys"."lastUsedAt" is null
      or "apiKeys"."lastUsedAt" <= :hourAgo
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
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "organizationId" as "callerOrganizationId",
  "userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
  ) as "isLastUsedStale"
from
  "apiKeys"
where
  "apiKeys"."hash" = :keyHash;
