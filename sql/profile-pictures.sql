-- src/resources/profile-pictures/statements.ts

-- beginUpload
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  'profile-pictures/' || "users"."organizationId" || '/' || :objectId as "objectKey",
  :deleteAfter as "deleteAfter"
from
  "apiKeys"
  inner join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = :userId
  )
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
    and "users"."id" = "apiKeys"."userId"
  )
returning
  "objectKey";

-- explainPicture
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
  ) as "isLastUsedStale",
  "users"."id" is not null as "userExists",
  "users"."id" = "apiKeys"."userId" as "isOwn",
  coalesce("profilePictures"."leaseExpiresAt" > :now, false) as "isUploading"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = :userId
  )
  left join "profilePictures" on (
    "profilePictures"."organizationId" = "apiKeys"."organizationId"
    and "profilePictures"."userId" = :userId
  )
where
  "apiKeys"."hash" = :keyHash;

-- keepUploaded
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
            "apiKeys"."organizationId"
          from
            "apiKeys"
          where
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
        )
        and "profilePictures"."userId" = (
          select
            "apiKeys"."userId"
          from
            "apiKeys"
          where
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
        )
        and "profilePictures"."objectKey" = :objectKey
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
  inner join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = :userId
  )
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
    and "users"."id" = "apiKeys"."userId"
  )
on conflict ("profilePictures"."organizationId", "profilePictures"."userId") do update
set
  "uploadingObjectKey" = excluded."uploadingObjectKey",
  "leaseExpiresAt" = excluded."leaseExpiresAt";

-- linkPicture
update "profilePictures"
set
  "objectKey" = :objectKey,
  "contentType" = :contentType,
  "uploadingObjectKey" = null,
  "leaseExpiresAt" = null,
  "updatedAt" = :now
where
  (
    "profilePictures"."organizationId" = (
      select
        "users"."organizationId"
      from
        "apiKeys"
        inner join "users" on (
          "users"."organizationId" = "apiKeys"."organizationId"
          and "users"."id" = :userId
        )
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
          and "users"."id" = "apiKeys"."userId"
        )
    )
    and "profilePictures"."userId" = :userId
    and (
      "profilePictures"."uploadingObjectKey" = :objectKey
      and "profilePictures"."leaseExpiresAt" > :now
    )
  )
returning
  "updatedAt";

-- orphanPicture
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  "objectKey" as "objectKey",
  :deleteAfter as "deleteAfter"
from
  "profilePictures"
where
  (
    (
      "profilePictures"."organizationId" = (
        select
          "apiKeys"."organizationId"
        from
          "apiKeys"
        where
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
      )
      and "profilePictures"."userId" = (
        select
          "apiKeys"."userId"
        from
          "apiKeys"
        where
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
      )
      and "profilePictures"."userId" = :userId
      and (
        "profilePictures"."leaseExpiresAt" is null
        or "profilePictures"."leaseExpiresAt" <= :now
      )
    )
    and "profilePictures"."objectKey" is not null
  )
on conflict do nothing;

-- orphanReplaced
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  "profilePictures"."objectKey" as "objectKey",
  :deleteAfter as "deleteAfter"
from
  "apiKeys"
  inner join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = :userId
  )
  inner join "profilePictures" on (
    (
      "profilePictures"."organizationId" = "users"."organizationId"
      and "profilePictures"."userId" = "users"."id"
    )
    and (
      "profilePictures"."uploadingObjectKey" = :objectKey
      and "profilePictures"."leaseExpiresAt" > :now
    )
    and "profilePictures"."objectKey" is not null
  )
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
    and "users"."id" = "apiKeys"."userId"
  )
on conflict do nothing;

-- selectPicture
select
  "profilePictures"."objectKey" as "objectKey",
  "profilePictures"."contentType" as "contentType"
from
  "apiKeys"
  inner join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = :userId
  )
  inner join "profilePictures" on (
    (
      "profilePictures"."organizationId" = "users"."organizationId"
      and "profilePictures"."userId" = "users"."id"
    )
    and "profilePictures"."objectKey" is not null
  )
where
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
  );

-- unlinkPicture
delete from "profilePictures"
where
  (
    "profilePictures"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
      where
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
    )
    and "profilePictures"."userId" = (
      select
        "apiKeys"."userId"
      from
        "apiKeys"
      where
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
    )
    and "profilePictures"."userId" = :userId
    and (
      "profilePictures"."leaseExpiresAt" is null
      or "profilePictures"."leaseExpiresAt" <= :now
    )
  )
returning
  "objectKey";
