-- src/resources/profile-pictures/statements.ts

-- addDeletedToOrphans
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  "profilePictures"."objectKey" as "objectKey",
  :deleteAfter as "deleteAfter"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :userId
  )
  left join "profilePictures" on (
    "profilePictures"."organizationId" = "users"."organizationId"
    and "profilePictures"."userId" = "users"."id"
  )
where
  (
    (
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
      )
      and ("users"."id" is not null)
      and ("users"."id" = "apiKeys"."userId")
      and (
        (
          "profilePictures"."leaseExpiresAt" is null
          or "profilePictures"."leaseExpiresAt" <= :now
        )
      )
    )
    and "profilePictures"."objectKey" is not null
  )
on conflict do nothing;

-- addReplacedToOrphans
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  "profilePictures"."objectKey" as "objectKey",
  :deleteAfter as "deleteAfter"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :userId
  )
  left join "profilePictures" on (
    "profilePictures"."organizationId" = "users"."organizationId"
    and "profilePictures"."userId" = "users"."id"
  )
where
  (
    (
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
      )
      and ("users"."id" is not null)
      and ("users"."id" = "apiKeys"."userId")
      and (
        (
          "profilePictures"."uploadingObjectKey" = + :objectKey
          and "profilePictures"."leaseExpiresAt" > :now
        )
      )
    )
    and "profilePictures"."objectKey" is not null
  )
on conflict do nothing;

-- beginUpload
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  'profile-pictures/' || "users"."organizationId" || '/' || :objectId as "objectKey",
  :deleteAfter as "deleteAfter"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :userId
  )
where
  (
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
    )
    and ("users"."id" is not null)
    and ("users"."id" = "apiKeys"."userId")
  )
returning
  "objectKey";

-- deletable.check
select
  case
    when "apiKeys"."movedTo" is not null then 'moved'
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
    when "apiKeys"."suspendedAt" is not null then 'suspended'
  end as "keyEnd",
  "apiKeys"."movedTo" as "movedTo",
  (
    :caller.scope is null
    or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :caller.hourAgo
  ) as "isLastUsedStale",
  "users"."id" is not null as "userExists",
  "users"."id" = "apiKeys"."userId" as "isOwn",
  (
    "profilePictures"."leaseExpiresAt" is null
    or "profilePictures"."leaseExpiresAt" <= :now
  ) as "noUploadIsInProgress"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :userId
  )
  left join "profilePictures" on (
    "profilePictures"."organizationId" = "users"."organizationId"
    and "profilePictures"."userId" = "users"."id"
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- deletePicture
delete from "profilePictures"
where
  (
    "profilePictures"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "users" on (
          "users"."organizationId" = "apiKeys"."organizationId"
          and "users"."id" = + :userId
        )
        left join "profilePictures" on (
          "profilePictures"."organizationId" = "users"."organizationId"
          and "profilePictures"."userId" = "users"."id"
        )
      where
        (
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
          )
          and ("users"."id" is not null)
          and ("users"."id" = "apiKeys"."userId")
          and (
            (
              "profilePictures"."leaseExpiresAt" is null
              or "profilePictures"."leaseExpiresAt" <= :now
            )
          )
        )
    )
    and "profilePictures"."userId" = + :userId
  )
returning
  "objectKey";

-- deletePicture.recording
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
          "last"."organizationId" = "apiKeys"."organizationId"
      ),
      0
    ) + 1
  ) + 0 as "sequence",
  substr(:event.id, 1, 32) || printf('%04x', 0 + 0) as "id",
  'profile-picture.deleted' as "type",
  :userId as "resourceId",
  null as "parentId",
  null as "resourceName",
  null as "projectId",
  "id" as "apiKeyId",
  "name" as "apiKeyName",
  "userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
where
  (
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
    )
    and changes() > 0
    and (
      not :event.isRepeatable
      or not exists (
        select
          1
        from
          "auditEvents" "recorded"
        where
          (
            "recorded"."organizationId" = "apiKeys"."organizationId"
            and "recorded"."sequence" >= :event.firstSequence
            and "recorded"."id" = substr(:event.id, 1, 32) || printf('%04x', 0 + 0)
          )
      )
    )
  );

-- leasePicture
insert into
  "profilePictures" (
    "organizationId",
    "userId",
    "objectKey",
    "contentType",
    "uploadingObjectKey",
    "leaseExpiresAt",
    "updatedAt"
  )
select
  "users"."organizationId" as "organizationId",
  "users"."id" as "userId",
  null as "objectKey",
  null as "contentType",
  'profile-pictures/' || "users"."organizationId" || '/' || :objectId as "uploadingObjectKey",
  :leaseExpiresAt as "leaseExpiresAt",
  :now as "updatedAt"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :userId
  )
where
  (
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
    )
    and ("users"."id" is not null)
    and ("users"."id" = "apiKeys"."userId")
  )
on conflict ("profilePictures"."organizationId", "profilePictures"."userId") do update
set
  "uploadingObjectKey" = excluded."uploadingObjectKey",
  "leaseExpiresAt" = excluded."leaseExpiresAt";

-- putPicture
update "profilePictures"
set
  "objectKey" = + :objectKey,
  "contentType" = + :contentType,
  "uploadingObjectKey" = + null,
  "leaseExpiresAt" = + null,
  "updatedAt" = + :now
where
  (
    "profilePictures"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "users" on (
          "users"."organizationId" = "apiKeys"."organizationId"
          and "users"."id" = + :userId
        )
        left join "profilePictures" on (
          "profilePictures"."organizationId" = "users"."organizationId"
          and "profilePictures"."userId" = "users"."id"
        )
      where
        (
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
          )
          and ("users"."id" is not null)
          and ("users"."id" = "apiKeys"."userId")
          and (
            (
              "profilePictures"."uploadingObjectKey" = + :objectKey
              and "profilePictures"."leaseExpiresAt" > :now
            )
          )
        )
    )
    and "profilePictures"."userId" = + :userId
  )
returning
  "updatedAt";

-- putPicture.recording
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
          "last"."organizationId" = "apiKeys"."organizationId"
      ),
      0
    ) + 1
  ) + 0 as "sequence",
  substr(:event.id, 1, 32) || printf('%04x', 0 + 0) as "id",
  'profile-picture.set' as "type",
  :userId as "resourceId",
  null as "parentId",
  null as "resourceName",
  null as "projectId",
  "id" as "apiKeyId",
  "name" as "apiKeyName",
  "userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
where
  (
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
    )
    and changes() > 0
    and (
      not :event.isRepeatable
      or not exists (
        select
          1
        from
          "auditEvents" "recorded"
        where
          (
            "recorded"."organizationId" = "apiKeys"."organizationId"
            and "recorded"."sequence" >= :event.firstSequence
            and "recorded"."id" = substr(:event.id, 1, 32) || printf('%04x', 0 + 0)
          )
      )
    )
  );

-- readable.check
select
  case
    when "apiKeys"."movedTo" is not null then 'moved'
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
    when "apiKeys"."suspendedAt" is not null then 'suspended'
  end as "keyEnd",
  "apiKeys"."movedTo" as "movedTo",
  (
    :caller.scope is null
    or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :caller.hourAgo
  ) as "isLastUsedStale",
  "users"."id" is not null as "userExists",
  "profilePictures"."objectKey" is not null as "pictureExists"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :userId
  )
  left join "profilePictures" on (
    "profilePictures"."organizationId" = "users"."organizationId"
    and "profilePictures"."userId" = "users"."id"
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- recordable.check
select
  case
    when "apiKeys"."movedTo" is not null then 'moved'
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
    when "apiKeys"."suspendedAt" is not null then 'suspended'
  end as "keyEnd",
  "apiKeys"."movedTo" as "movedTo",
  (
    :caller.scope is null
    or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :caller.hourAgo
  ) as "isLastUsedStale",
  "users"."id" is not null as "userExists",
  "users"."id" = "apiKeys"."userId" as "isOwn",
  "profilePictures"."objectKey" is null as "isNew"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :userId
  )
  left join "profilePictures" on (
    "profilePictures"."organizationId" = "users"."organizationId"
    and "profilePictures"."userId" = "users"."id"
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- removeRecordedFromOrphans
delete from "orphanedObjects"
where
  "orphanedObjects"."objectKey" = (
    select
      "objectKey"
    from
      "profilePictures"
    where
      (
        "profilePictures"."organizationId" = (
          select
            "organizationId"
          from
            "apiKeys"
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
            )
        )
        and "profilePictures"."userId" = (
          select
            "apiKeys"."userId"
          from
            "apiKeys"
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
            )
        )
        and "profilePictures"."objectKey" = + :objectKey
      )
  );

-- selectPicture
select
  "profilePictures"."objectKey" as "objectKey",
  "profilePictures"."contentType" as "contentType"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :userId
  )
  left join "profilePictures" on (
    "profilePictures"."organizationId" = "users"."organizationId"
    and "profilePictures"."userId" = "users"."id"
  )
where
  (
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
    )
    and ("users"."id" is not null)
    and ("profilePictures"."objectKey" is not null)
  );

-- uploadable.check
select
  case
    when "apiKeys"."movedTo" is not null then 'moved'
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
    when "apiKeys"."suspendedAt" is not null then 'suspended'
  end as "keyEnd",
  "apiKeys"."movedTo" as "movedTo",
  (
    :caller.scope is null
    or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :caller.hourAgo
  ) as "isLastUsedStale",
  "users"."id" is not null as "userExists",
  "users"."id" = "apiKeys"."userId" as "isOwn"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :userId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;
