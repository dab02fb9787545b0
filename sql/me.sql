-- src/resources/me/statements.ts

-- selectMe
select
  "organizations"."id" as "organizationId",
  "organizations"."name" as "organizationName",
  "users"."id" as "userId",
  "users"."name" as "userName",
  "apiKeys"."id" as "id",
  "apiKeys"."name" as "name",
  "apiKeys"."kind",
  "apiKeys"."scopes",
  "apiKeys"."projectIds",
  "apiKeys"."expiresAt",
  "apiKeys"."identityId",
  (
    select
      json_group_object("brakes"."kind", "brakes"."since")
    from
      "brakes"
  ) as "stoppedForAll",
  (
    select
      json_group_object("organizationBrakes"."kind", "organizationBrakes"."since")
    from
      "organizationBrakes"
    where
      "organizationBrakes"."organizationId" = "apiKeys"."organizationId"
  ) as "stoppedHere"
from
  "apiKeys"
  inner join "organizations" on "organizations"."id" = "apiKeys"."organizationId"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = "apiKeys"."userId"
  )
where
  (
    "apiKeys"."hash" = + :caller.keyHash
    and case
      when "apiKeys"."movedTo" is not null then 'moved'
      when "apiKeys"."revokedAt" is not null then 'revoked'
      when "apiKeys"."expiresAt" <= :now then 'expired'
      when "apiKeys"."suspendedAt" is not null then 'suspended'
    end is null
    and (
      :caller.scope is null
      or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
    )
  );
