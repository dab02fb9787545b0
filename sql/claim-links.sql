-- src/resources/claim-links/statements.ts

-- endLink
update "apiKeys"
set
  "revokedAt" = + :now,
  "rotatedAt" = + :now
where
  (
    "apiKeys"."hash" = + :hash
    and "apiKeys"."revokedAt" is null
    and "apiKeys"."rotatedAt" is null
    and "apiKeys"."movedTo" is null
    and "apiKeys"."expiresAt" > :now
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = "apiKeys"."organizationId"
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
    )
  );

-- insertKey
insert into
  "apiKeys" (
    "organizationId",
    "id",
    "name",
    "kind",
    "hash",
    "scopes",
    "userId",
    "projectIds",
    "expiresAt",
    "revokedAt",
    "rotatedAt",
    "lastUsedAt",
    "createdAt",
    "idempotencyKey",
    "createdByKeyId",
    "identityId",
    "clientId",
    "clientName",
    "redirectHost",
    "grantEndsAt",
    "redeemedAt",
    "movedTo",
    "suspendedAt"
  )
select
  "organizationId" as "organizationId",
  :keyId as "id",
  :keyName as "name",
  'key' as "kind",
  :keyHash as "hash",
  "scopes" as "scopes",
  "userId" as "userId",
  null as "projectIds",
  null as "expiresAt",
  null as "revokedAt",
  null as "rotatedAt",
  null as "lastUsedAt",
  :now as "createdAt",
  null as "idempotencyKey",
  "id" as "createdByKeyId",
  null as "identityId",
  null as "clientId",
  null as "clientName",
  null as "redirectHost",
  null as "grantEndsAt",
  null as "redeemedAt",
  null as "movedTo",
  null as "suspendedAt"
from
  "apiKeys" "link"
where
  (
    "link"."hash" = + :hash
    and "link"."revokedAt" is null
    and "link"."rotatedAt" is null
    and "link"."movedTo" is null
    and "link"."expiresAt" > :now
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = "link"."organizationId"
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
    )
  );

-- recordKey
insert into
  "auditEvents" (
    "organizationId",
    "sequence",
    "id",
    "type",
    "resourceId",
    "parentId",
    "resourceName",
    "projectId",
    "apiKeyId",
    "apiKeyName",
    "userId",
    "requestId"
  )
select
  "organizationId" as "organizationId",
  max(
    :event.firstSequence,
    coalesce(
      (
        select
          max("sequence")
        from
          "auditEvents" "last"
        where
          "last"."organizationId" = "link"."organizationId"
      ),
      0
    ) + 1
  ) + row_number() over (
    partition by
      "link"."organizationId"
  ) - 1 as "sequence",
  substr(:event.id, 1, 24) || lower(hex(randomblob(6))) as "id",
  'api-key.created' as "type",
  :keyId as "resourceId",
  null as "parentId",
  :keyName as "resourceName",
  null as "projectId",
  "id" as "apiKeyId",
  "name" as "apiKeyName",
  "userId" as "userId",
  null as "requestId"
from
  "apiKeys" "link"
where
  (
    "link"."hash" = + :hash
    and "link"."revokedAt" is null
    and "link"."rotatedAt" is null
    and "link"."movedTo" is null
    and "link"."expiresAt" > :now
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = "link"."organizationId"
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
    )
  );

-- selectLink
select
  "link"."organizationId",
  "link"."userId",
  "link"."expiresAt",
  "link"."revokedAt",
  "link"."rotatedAt",
  "link"."movedTo",
  "key"."id" as "keyId"
from
  "apiKeys" "link"
  left join "apiKeys" "key" on (
    "key"."organizationId" = "link"."organizationId"
    and "key"."createdByKeyId" = "link"."id"
  )
where
  "link"."hash" = + :hash
limit
  + 1;
