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
