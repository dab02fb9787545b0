-- src/resources/skills/statements.ts

-- addOldArchivesToOrphans
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  "objectKey" as "objectKey",
  :deleteAfter as "deleteAfter"
from
  "skillVersions"
where
  (
    "skillVersions"."organizationId" = (
      select
        "skills"."organizationId"
      from
        "apiKeys"
        inner join "skills" on (
          (
            "skills"."organizationId" = "apiKeys"."organizationId"
            and "skills"."id" = + :skillId
          )
          and "skills"."revision" = + :revision
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
        )
    )
    and "skillVersions"."skillId" = + :skillId
    and "skillVersions"."version" in (
      select
        "older"."version"
      from
        "apiKeys"
        inner join "skills" on (
          (
            "skills"."organizationId" = "apiKeys"."organizationId"
            and "skills"."id" = + :skillId
          )
          and "skills"."revision" = + :revision
        )
        inner join "skillVersions" "older" on (
          (
            "older"."organizationId" = "skills"."organizationId"
            and "older"."skillId" = "skills"."id"
          )
          and "older"."version" <> "skills"."version"
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
        )
      order by
        "older"."version" desc
      limit
        + 1000
      offset
        :othersKept
    )
    and "skillVersions"."version" not in (
      select
        "named".value ->> 'version'
      from
        "skillFeeds",
        json_each("skillFeeds"."skills") as "named"
      where
        "skillFeeds"."organizationId" = (
          select
            "skills"."organizationId"
          from
            "apiKeys"
            inner join "skills" on (
              (
                "skills"."organizationId" = "apiKeys"."organizationId"
                and "skills"."id" = + :skillId
              )
              and "skills"."revision" = + :revision
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
            )
        )
        and "named".value ->> 'skillId' = + :skillId
        and "named".value ->> 'version' is not null
    )
  )
on conflict do nothing;

-- archiveReadable.check
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
  "skills"."id" is not null as "skillExists",
  (
    "skills"."id" is null
    or "skillVersions"."version" is not null
  ) as "versionExists"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
  left join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" = coalesce(cast(:version as integer), "skills"."version")
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- beginChange
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  'skills/' || "apiKeys"."organizationId" || '/' || :objectId as "objectKey",
  :deleteAfter as "deleteAfter"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
  left join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" = "skills"."version"
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
      and ("skills"."id" is not null)
      and (
        select
          case
            when "organizationUsage"."skillBytes" + (
              (
                select
                  coalesce(sum("new".value ->> 'bytes'), 0)
                from
                  json_each(:contents) as "new"
                where
                  not exists (
                    select
                      1
                    from
                      "skillContents"
                    where
                      (
                        "skillContents"."organizationId" = "apiKeys"."organizationId"
                        and "skillContents"."skillId" = + :skillId
                        and "skillContents"."sha256" = "new".value ->> 'sha256'
                      )
                  )
              )
            ) > max("organizationUsage"."skillBytes", :quota.skillBytes) then 'skillBytes'
          end
        from
          "organizationUsage"
        where
          "organizationUsage"."organizationId" = "apiKeys"."organizationId"
      ) is null
      and (
        not exists (
          select
            "id"
          from
            "skills" "other"
          where
            (
              "other"."organizationId" = "apiKeys"."organizationId"
              and "other"."name" = + :name
              and "other"."id" <> :skillId
            )
        )
      )
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "skills"."revision" is not null
        )
        or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0
      )
    )
    and "skillVersions"."files" is not :files
  )
on conflict ("orphanedObjects"."objectKey") do update
set
  "deleteAfter" = excluded."deleteAfter"
returning
  "objectKey";

-- beginCreation
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  'skills/' || "apiKeys"."organizationId" || '/' || :objectId as "objectKey",
  :deleteAfter as "deleteAfter"
from
  "apiKeys"
  left join "skills" "repeated" on (
    "repeated"."organizationId" = "apiKeys"."organizationId"
    and "repeated"."idempotencyKey" = + :idempotencyKey
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
    and ("repeated"."id" is null)
    and (
      select
        case
          when "organizationUsage"."skills" + (1) > max("organizationUsage"."skills", :quota.skills) then 'skills'
          when "organizationUsage"."skillBytes" + (
            (
              select
                coalesce(sum("new".value ->> 'bytes'), 0)
              from
                json_each(:contents) as "new"
              where
                not exists (
                  select
                    1
                  from
                    "skillContents"
                  where
                    (
                      "skillContents"."organizationId" = "apiKeys"."organizationId"
                      and "skillContents"."skillId" = + :skillId
                      and "skillContents"."sha256" = "new".value ->> 'sha256'
                    )
                )
            )
          ) > max("organizationUsage"."skillBytes", :quota.skillBytes) then 'skillBytes'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
    and (
      not exists (
        select
          "id"
        from
          "skills" "other"
        where
          (
            "other"."organizationId" = "apiKeys"."organizationId"
            and "other"."name" = + :name
            and "other"."id" <> :skillId
          )
      )
    )
  )
on conflict ("orphanedObjects"."objectKey") do update
set
  "deleteAfter" = excluded."deleteAfter"
returning
  "objectKey";

-- beginnable.check
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
  "repeated"."id" is null as "isFirstRequest",
  (
    select
      case
        when "organizationUsage"."skills" + (1) > max("organizationUsage"."skills", :quota.skills) then 'skills'
        when "organizationUsage"."skillBytes" + (
          (
            select
              coalesce(sum("new".value ->> 'bytes'), 0)
            from
              json_each(:contents) as "new"
            where
              not exists (
                select
                  1
                from
                  "skillContents"
                where
                  (
                    "skillContents"."organizationId" = "apiKeys"."organizationId"
                    and "skillContents"."skillId" = + :skillId
                    and "skillContents"."sha256" = "new".value ->> 'sha256'
                  )
              )
          )
        ) > max("organizationUsage"."skillBytes", :quota.skillBytes) then 'skillBytes'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  not exists (
    select
      "id"
    from
      "skills" "other"
    where
      (
        "other"."organizationId" = "apiKeys"."organizationId"
        and "other"."name" = + :name
        and "other"."id" <> :skillId
      )
  ) as "nameIsFree"
from
  "apiKeys"
  left join "skills" "repeated" on (
    "repeated"."organizationId" = "apiKeys"."organizationId"
    and "repeated"."idempotencyKey" = + :idempotencyKey
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- changeable.check
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
  "skills"."id" is not null as "skillExists",
  (
    select
      case
        when "organizationUsage"."skillBytes" + (
          (
            select
              coalesce(sum("new".value ->> 'bytes'), 0)
            from
              json_each(:contents) as "new"
            where
              not exists (
                select
                  1
                from
                  "skillContents"
                where
                  (
                    "skillContents"."organizationId" = "apiKeys"."organizationId"
                    and "skillContents"."skillId" = + :skillId
                    and "skillContents"."sha256" = "new".value ->> 'sha256'
                  )
              )
          )
        ) > max("organizationUsage"."skillBytes", :quota.skillBytes) then 'skillBytes'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  not exists (
    select
      "id"
    from
      "skills" "other"
    where
      (
        "other"."organizationId" = "apiKeys"."organizationId"
        and "other"."name" = + :name
        and "other"."id" <> :skillId
      )
  ) as "nameIsFree",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "skills"."revision" is not null
  )
  or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
  left join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" = "skills"."version"
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- copyDeleted
insert into
  "deletions" (
    "organizationId",
    "resourceType",
    "resourceId",
    "projectId",
    "agentId",
    "deletedAt",
    "finalAt",
    "purgedAt",
    "id",
    "row"
  )
select
  "skills"."organizationId" as "organizationId",
  'skill' as "resourceType",
  "skills"."id" as "resourceId",
  null as "projectId",
  null as "agentId",
  :now as "deletedAt",
  :finalAt as "finalAt",
  null as "purgedAt",
  case
    when :finalAt > :now then :deletionId
  end as "id",
  case
    when :finalAt > :now then json_object(
      'organizationId',
      "skills"."organizationId",
      'id',
      "skills"."id",
      'name',
      "skills"."name",
      'description',
      "skills"."description",
      'version',
      "skills"."version",
      'latestVersion',
      "skills"."latestVersion",
      'revision',
      "skills"."revision",
      'createdAt',
      "skills"."createdAt",
      'updatedAt',
      "skills"."updatedAt",
      'idempotencyKey',
      "skills"."idempotencyKey",
      'idempotencyFingerprint',
      "skills"."idempotencyFingerprint"
    )
  end as "row"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
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
    and ("skills"."id" is not null)
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "skills"."revision" is not null
      )
      or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0
    )
  );

-- creatable.check
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
  "repeated"."id" is null as "isFirstRequest",
  (
    select
      case
        when "organizationUsage"."skills" + (1) > max("organizationUsage"."skills", :quota.skills) then 'skills'
        when "organizationUsage"."skillBytes" + (
          (
            select
              coalesce(sum("new".value ->> 'bytes'), 0)
            from
              json_each(:contents) as "new"
            where
              not exists (
                select
                  1
                from
                  "skillContents"
                where
                  (
                    "skillContents"."organizationId" = "apiKeys"."organizationId"
                    and "skillContents"."skillId" = + :skillId
                    and "skillContents"."sha256" = "new".value ->> 'sha256'
                  )
              )
          )
        ) > max("organizationUsage"."skillBytes", :quota.skillBytes) then 'skillBytes'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  not exists (
    select
      "id"
    from
      "skills" "other"
    where
      (
        "other"."organizationId" = "apiKeys"."organizationId"
        and "other"."name" = + :name
        and "other"."id" <> :skillId
      )
  ) as "nameIsFree"
from
  "apiKeys"
  left join "skills" "repeated" on (
    "repeated"."organizationId" = "apiKeys"."organizationId"
    and "repeated"."idempotencyKey" = + :idempotencyKey
  )
  left join "orphanedObjects" on (
    "orphanedObjects"."objectKey" = + :objectKey
    and "orphanedObjects"."deleteAfter" > :notSweptBefore
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

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
  "skills"."id" is not null as "skillExists",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "skills"."revision" is not null
  )
  or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- deleteOldVersions
delete from "skillVersions"
where
  (
    "skillVersions"."organizationId" = (
      select
        "skills"."organizationId"
      from
        "apiKeys"
        inner join "skills" on (
          (
            "skills"."organizationId" = "apiKeys"."organizationId"
            and "skills"."id" = + :skillId
          )
          and "skills"."revision" = + :revision
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
        )
    )
    and "skillVersions"."skillId" = + :skillId
    and "skillVersions"."version" in (
      select
        "older"."version"
      from
        "apiKeys"
        inner join "skills" on (
          (
            "skills"."organizationId" = "apiKeys"."organizationId"
            and "skills"."id" = + :skillId
          )
          and "skills"."revision" = + :revision
        )
        inner join "skillVersions" "older" on (
          (
            "older"."organizationId" = "skills"."organizationId"
            and "older"."skillId" = "skills"."id"
          )
          and "older"."version" <> "skills"."version"
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
        )
      order by
        "older"."version" desc
      limit
        + 1000
      offset
        :othersKept
    )
    and "skillVersions"."version" not in (
      select
        "named".value ->> 'version'
      from
        "skillFeeds",
        json_each("skillFeeds"."skills") as "named"
      where
        "skillFeeds"."organizationId" = (
          select
            "skills"."organizationId"
          from
            "apiKeys"
            inner join "skills" on (
              (
                "skills"."organizationId" = "apiKeys"."organizationId"
                and "skills"."id" = + :skillId
              )
              and "skills"."revision" = + :revision
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
            )
        )
        and "named".value ->> 'skillId' = + :skillId
        and "named".value ->> 'version' is not null
    )
  );

-- deleteSkill
delete from "skills"
where
  (
    "skills"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "skills" on (
          "skills"."organizationId" = "apiKeys"."organizationId"
          and "skills"."id" = + :skillId
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
          and ("skills"."id" is not null)
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "skills"."revision" is not null
            )
            or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0
          )
        )
    )
    and "skills"."id" = + :skillId
  )
returning
  "id";

-- deleteSkill.recording
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
  "apiKeys"."organizationId" as "organizationId",
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
  'skill.deleted' as "type",
  "skills"."id" as "resourceId",
  null as "parentId",
  "skills"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
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
      and ("skills"."id" is not null)
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "skills"."revision" is not null
        )
        or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0
      )
    )
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

-- deleteUnusedContents
delete from "skillContents"
where
  (
    changes() > 0
    and "skillContents"."organizationId" = (
      select
        "skills"."organizationId"
      from
        "apiKeys"
        inner join "skills" on (
          (
            "skills"."organizationId" = "apiKeys"."organizationId"
            and "skills"."id" = + :skillId
          )
          and "skills"."revision" = + :revision
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
        )
    )
    and "skillContents"."skillId" = + :skillId
    and "skillContents"."sha256" not in (
      select
        "file".value ->> 'sha256'
      from
        "skillVersions",
        json_each("skillVersions"."files") as "file"
      where
        "skillVersions"."organizationId" = (
          select
            "skills"."organizationId"
          from
            "apiKeys"
            inner join "skills" on (
              (
                "skills"."organizationId" = "apiKeys"."organizationId"
                and "skills"."id" = + :skillId
              )
              and "skills"."revision" = + :revision
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
            )
        )
        and "skillVersions"."skillId" = + :skillId
    )
  );

-- insertSkill
insert into
  "skills" (
    "organizationId",
    "id",
    "name",
    "description",
    "version",
    "latestVersion",
    "revision",
    "createdAt",
    "updatedAt",
    "idempotencyKey",
    "idempotencyFingerprint"
  )
select
  "apiKeys"."organizationId" as "organizationId",
  :skillId as "id",
  :name as "name",
  :description as "description",
  1 as "version",
  1 as "latestVersion",
  :revision as "revision",
  :now as "createdAt",
  :now as "updatedAt",
  :idempotencyKey as "idempotencyKey",
  :idempotencyFingerprint as "idempotencyFingerprint"
from
  "apiKeys"
  left join "skills" "repeated" on (
    "repeated"."organizationId" = "apiKeys"."organizationId"
    and "repeated"."idempotencyKey" = + :idempotencyKey
  )
  left join "orphanedObjects" on (
    "orphanedObjects"."objectKey" = + :objectKey
    and "orphanedObjects"."deleteAfter" > :notSweptBefore
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
    and ("repeated"."id" is null)
    and (
      select
        case
          when "organizationUsage"."skills" + (1) > max("organizationUsage"."skills", :quota.skills) then 'skills'
          when "organizationUsage"."skillBytes" + (
            (
              select
                coalesce(sum("new".value ->> 'bytes'), 0)
              from
                json_each(:contents) as "new"
              where
                not exists (
                  select
                    1
                  from
                    "skillContents"
                  where
                    (
                      "skillContents"."organizationId" = "apiKeys"."organizationId"
                      and "skillContents"."skillId" = + :skillId
                      and "skillContents"."sha256" = "new".value ->> 'sha256'
                    )
                )
            )
          ) > max("organizationUsage"."skillBytes", :quota.skillBytes) then 'skillBytes'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
    and (
      not exists (
        select
          "id"
        from
          "skills" "other"
        where
          (
            "other"."organizationId" = "apiKeys"."organizationId"
            and "other"."name" = + :name
            and "other"."id" <> :skillId
          )
      )
    )
    and ("orphanedObjects"."objectKey" is not null)
  );

-- insertSkill.recording
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
  'skill.created' as "type",
  :skillId as "resourceId",
  null as "parentId",
  :name as "resourceName",
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

-- insertVersion
insert into
  "skillVersions" (
    "organizationId",
    "skillId",
    "version",
    "name",
    "description",
    "digest",
    "objectKey",
    "archiveBytes",
    "files",
    "message",
    "apiKeyId",
    "userId",
    "createdAt"
  )
select
  "skills"."organizationId" as "organizationId",
  "skills"."id" as "skillId",
  "skills"."version" as "version",
  "skills"."name" as "name",
  "skills"."description" as "description",
  :digest as "digest",
  :objectKey as "objectKey",
  cast(:archiveBytes as integer) as "archiveBytes",
  :files as "files",
  :message as "message",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."userId" as "userId",
  :now as "createdAt"
from
  "apiKeys"
  inner join "skills" on (
    (
      "skills"."organizationId" = "apiKeys"."organizationId"
      and "skills"."id" = + :skillId
    )
    and "skills"."revision" = + :revision
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
  )
on conflict do nothing;

-- publish
update "skills"
set
  "name" = (
    select
      "name"
    from
      "skillVersions" "published"
    where
      (
        (
          "published"."organizationId" = "skills"."organizationId"
          and "published"."skillId" = "skills"."id"
        )
        and "published"."version" = cast(:version as integer)
      )
  ),
  "description" = (
    select
      "description"
    from
      "skillVersions" "published"
    where
      (
        (
          "published"."organizationId" = "skills"."organizationId"
          and "published"."skillId" = "skills"."id"
        )
        and "published"."version" = cast(:version as integer)
      )
  ),
  "version" = cast(:version as integer),
  "revision" = + :revision,
  "updatedAt" = + :now
where
  (
    "skills"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "skills" on (
          "skills"."organizationId" = "apiKeys"."organizationId"
          and "skills"."id" = + :skillId
        )
        left join "skillVersions" on (
          (
            "skillVersions"."organizationId" = "skills"."organizationId"
            and "skillVersions"."skillId" = "skills"."id"
          )
          and "skillVersions"."version" = cast(:version as integer)
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
          and ("skills"."id" is not null)
          and (
            (
              "skills"."id" is null
              or "skillVersions"."version" is not null
            )
          )
          and (
            not exists (
              select
                "id"
              from
                "skills" "other"
              where
                (
                  "other"."organizationId" = "apiKeys"."organizationId"
                  and "other"."name" = "skillVersions"."name"
                  and "other"."id" <> :skillId
                )
            )
          )
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "skills"."revision" is not null
            )
            or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0
          )
        )
    )
    and "skills"."id" = + :skillId
    and "skills"."version" <> cast(:version as integer)
  );

-- publish.recording
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
  "apiKeys"."organizationId" as "organizationId",
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
  'skill.published' as "type",
  "skills"."id" as "resourceId",
  null as "parentId",
  "skillVersions"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
  left join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" = cast(:version as integer)
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
      and ("skills"."id" is not null)
      and (
        (
          "skills"."id" is null
          or "skillVersions"."version" is not null
        )
      )
      and (
        not exists (
          select
            "id"
          from
            "skills" "other"
          where
            (
              "other"."organizationId" = "apiKeys"."organizationId"
              and "other"."name" = "skillVersions"."name"
              and "other"."id" <> :skillId
            )
        )
      )
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "skills"."revision" is not null
        )
        or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0
      )
    )
    and (
      "skills"."version" <> cast(:version as integer)
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
    )
  );

-- publishable.check
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
  "skills"."id" is not null as "skillExists",
  (
    "skills"."id" is null
    or "skillVersions"."version" is not null
  ) as "versionExists",
  not exists (
    select
      "id"
    from
      "skills" "other"
    where
      (
        "other"."organizationId" = "apiKeys"."organizationId"
        and "other"."name" = "skillVersions"."name"
        and "other"."id" <> :skillId
      )
  ) as "nameIsFree",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "skills"."revision" is not null
  )
  or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
  left join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" = cast(:version as integer)
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- putContents
insert into
  "skillContents" ("organizationId", "skillId", "sha256", "content")
select
  "skills"."organizationId" as "organizationId",
  "skills"."id" as "skillId",
  "chunk"."column1" as "sha256",
  "chunk"."column2" as "content"
from
  "apiKeys"
  inner join "skills" on (
    (
      "skills"."organizationId" = "apiKeys"."organizationId"
      and "skills"."id" = + :skillId
    )
    and "skills"."revision" = + :revision
  )
  inner join (
    values
      (:chunk .0.sha256, :chunk .0.content),
      (:chunk .1.sha256, :chunk .1.content),
      (:chunk .2.sha256, :chunk .2.content),
      (:chunk .3.sha256, :chunk .3.content),
      (:chunk .4.sha256, :chunk .4.content),
      (:chunk .5.sha256, :chunk .5.content),
      (:chunk .6.sha256, :chunk .6.content),
      (:chunk .7.sha256, :chunk .7.content),
      (:chunk .8.sha256, :chunk .8.content),
      (:chunk .9.sha256, :chunk .9.content),
      (:chunk .10.sha256, :chunk .10.content),
      (:chunk .11.sha256, :chunk .11.content),
      (:chunk .12.sha256, :chunk .12.content),
      (:chunk .13.sha256, :chunk .13.content),
      (:chunk .14.sha256, :chunk .14.content),
      (:chunk .15.sha256, :chunk .15.content),
      (:chunk .16.sha256, :chunk .16.content),
      (:chunk .17.sha256, :chunk .17.content),
      (:chunk .18.sha256, :chunk .18.content),
      (:chunk .19.sha256, :chunk .19.content),
      (:chunk .20.sha256, :chunk .20.content),
      (:chunk .21.sha256, :chunk .21.content),
      (:chunk .22.sha256, :chunk .22.content),
      (:chunk .23.sha256, :chunk .23.content),
      (:chunk .24.sha256, :chunk .24.content)
  ) as "chunk" on "chunk"."column1" is not null
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
on conflict do nothing;

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
  "skills"."id" is not null as "skillExists"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- removeArchiveFromOrphans
delete from "orphanedObjects"
where
  (
    "orphanedObjects"."objectKey" = + :objectKey
    and (
      select
        "skills"."organizationId"
      from
        "apiKeys"
        inner join "skills" on (
          (
            "skills"."organizationId" = "apiKeys"."organizationId"
            and "skills"."id" = + :skillId
          )
          and "skills"."revision" = + :revision
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
        )
    ) is not null
  );

-- selectArchive
select
  "skillVersions"."name",
  "skillVersions"."version",
  "skillVersions"."digest",
  "skillVersions"."objectKey"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
  left join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" = coalesce(cast(:version as integer), "skills"."version")
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
    and ("skills"."id" is not null)
    and (
      (
        "skills"."id" is null
        or "skillVersions"."version" is not null
      )
    )
  );

-- selectCreated
select
  "skills"."id",
  "skills"."name",
  "skills"."description",
  "skills"."createdAt",
  "skills"."updatedAt",
  "skills"."revision"
from
  "apiKeys"
  inner join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = coalesce(
      (
        select
          "id"
        from
          "skills" "repeated"
        where
          (
            "repeated"."organizationId" = "apiKeys"."organizationId"
            and "repeated"."idempotencyKey" = + :idempotencyKey
          )
      ),
      :skillId
    )
    and (
      "skills"."idempotencyKey" is null
      or "skills"."idempotencyFingerprint" = + :idempotencyFingerprint
    )
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

-- selectCreatedFiles
select
  ("file".value ->> 'id') as "id",
  ("file".value ->> 'filename') as "filename",
  case "file".value ->> 'encoding'
    when 'base64' then 'data:application/octet-stream;base64,'
    else ''
  end || "skillContents"."content" as "content"
from
  "apiKeys"
  inner join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = coalesce(
      (
        select
          "id"
        from
          "skills" "repeated"
        where
          (
            "repeated"."organizationId" = "apiKeys"."organizationId"
            and "repeated"."idempotencyKey" = + :idempotencyKey
          )
      ),
      :skillId
    )
    and (
      "skills"."idempotencyKey" is null
      or "skills"."idempotencyFingerprint" = + :idempotencyFingerprint
    )
  )
  inner join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" = "skills"."version"
  )
  inner join json_each("skillVersions"."files") as "file" on true
  inner join "skillContents" on (
    "skillContents"."organizationId" = "skillVersions"."organizationId"
    and "skillContents"."skillId" = "skillVersions"."skillId"
    and "skillContents"."sha256" = "file".value ->> 'sha256'
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
  )
order by
  "file".key asc;

-- selectPublished
select
  "skills"."id",
  "skills"."name",
  "skills"."description",
  "skills"."createdAt",
  "skills"."updatedAt",
  "skills"."revision"
from
  "apiKeys"
  inner join "skills" on (
    (
      "skills"."organizationId" = "apiKeys"."organizationId"
      and "skills"."id" = + :skillId
    )
    and "skills"."version" = cast(:version as integer)
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

-- selectSkill
select
  "skills"."id",
  "skills"."name",
  "skills"."description",
  "skills"."createdAt",
  "skills"."updatedAt",
  "skills"."revision"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
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
    and ("skills"."id" is not null)
  );

-- selectSkillByName
select
  "skills"."id",
  "skills"."name",
  "skills"."description",
  "skills"."createdAt",
  "skills"."updatedAt"
from
  "apiKeys"
  inner join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" > :cursor
    and "skills"."name" = + :name
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
    and (
      :query is null
      or instr(lower("skills"."name"), lower(:query)) > 0
    )
  );

-- selectSkillFiles
select
  ("file".value ->> 'id') as "id",
  ("file".value ->> 'filename') as "filename",
  case "file".value ->> 'encoding'
    when 'base64' then 'data:application/octet-stream;base64,'
    else ''
  end || "skillContents"."content" as "content"
from
  "apiKeys"
  inner join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
  inner join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" = "skills"."version"
  )
  inner join json_each("skillVersions"."files") as "file" on true
  inner join "skillContents" on (
    "skillContents"."organizationId" = "skillVersions"."organizationId"
    and "skillContents"."skillId" = "skillVersions"."skillId"
    and "skillContents"."sha256" = "file".value ->> 'sha256'
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
  )
order by
  "file".key asc;

-- selectSkills
select
  "id" as "id",
  "name" as "name",
  "description" as "description",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "skills"."id" as "id",
      "skills"."name" as "name",
      "skills"."description" as "description",
      "skills"."createdAt" as "createdAt",
      "skills"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "skills"
        where
          (
            "skills"."organizationId" = (
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
            and "skills"."id" > :cursor
          )
        order by
          "skills"."id" asc
        limit
          2500
      ) as "skills"
    where
      (
        :query is null
        or instr(lower("skills"."name"), lower(:query)) > 0
      )
    union all
    select
      *
    from
      (
        select
          "skills"."id",
          null,
          null,
          null,
          null,
          1
        from
          "skills"
        where
          (
            "skills"."organizationId" = (
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
            and "skills"."id" > :cursor
          )
        order by
          "skills"."id" asc
        limit
          (:query is not null)
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- selectUpToDate
select
  "skills"."id",
  "skills"."name",
  "skills"."description",
  "skills"."createdAt",
  "skills"."updatedAt",
  "skills"."revision"
from
  "apiKeys"
  inner join "skills" on (
    (
      "skills"."organizationId" = "apiKeys"."organizationId"
      and "skills"."id" = + :skillId
    )
    and exists (
      select
        1
      from
        "skillVersions"
      where
        (
          (
            (
              "skillVersions"."organizationId" = "skills"."organizationId"
              and "skillVersions"."skillId" = "skills"."id"
            )
            and "skillVersions"."version" = "skills"."version"
          )
          and "skillVersions"."files" = + :files
        )
    )
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

-- selectUpToDateFiles
select
  ("file".value ->> 'id') as "id",
  ("file".value ->> 'filename') as "filename",
  case "file".value ->> 'encoding'
    when 'base64' then 'data:application/octet-stream;base64,'
    else ''
  end || "skillContents"."content" as "content"
from
  "apiKeys"
  inner join "skills" on (
    (
      "skills"."organizationId" = "apiKeys"."organizationId"
      and "skills"."id" = + :skillId
    )
    and exists (
      select
        1
      from
        "skillVersions"
      where
        (
          (
            (
              "skillVersions"."organizationId" = "skills"."organizationId"
              and "skillVersions"."skillId" = "skills"."id"
            )
            and "skillVersions"."version" = "skills"."version"
          )
          and "skillVersions"."files" = + :files
        )
    )
  )
  inner join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" = "skills"."version"
  )
  inner join json_each("skillVersions"."files") as "file" on true
  inner join "skillContents" on (
    "skillContents"."organizationId" = "skillVersions"."organizationId"
    and "skillContents"."skillId" = "skillVersions"."skillId"
    and "skillContents"."sha256" = "file".value ->> 'sha256'
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
  )
order by
  "file".key asc;

-- selectVersion
select
  "skillVersions"."version",
  "skillVersions"."name",
  "skillVersions"."description",
  'sha256:' || "skillVersions"."digest" as "digest",
  "skillVersions"."version" = "skills"."version" as "isCurrent",
  "skillVersions"."message",
  "skillVersions"."apiKeyId",
  "skillVersions"."userId",
  "skillVersions"."createdAt"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
  left join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" = cast(:version as integer)
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
    and ("skills"."id" is not null)
    and (
      (
        "skills"."id" is null
        or "skillVersions"."version" is not null
      )
    )
  );

-- selectVersionFiles
select
  ("file".value ->> 'filename') as "filename",
  "skillContents"."content",
  ("file".value ->> 'encoding') as "encoding",
  ("file".value ->> 'executable') as "executable",
  ("file".value ->> 'sizeBytes') as "sizeBytes",
  ("file".value ->> 'sha256') as "sha256"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
  left join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" = cast(:version as integer)
  )
  inner join json_each("skillVersions"."files") as "file" on true
  inner join "skillContents" on (
    "skillContents"."organizationId" = "skillVersions"."organizationId"
    and "skillContents"."skillId" = "skillVersions"."skillId"
    and "skillContents"."sha256" = "file".value ->> 'sha256'
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
    and ("skills"."id" is not null)
    and (
      (
        "skills"."id" is null
        or "skillVersions"."version" is not null
      )
    )
  )
order by
  "file".key asc;

-- selectVersions
select
  "skillVersions"."version",
  "skillVersions"."name",
  "skillVersions"."description",
  'sha256:' || "skillVersions"."digest" as "digest",
  "skillVersions"."version" = "skills"."version" as "isCurrent",
  "skillVersions"."message",
  "skillVersions"."apiKeyId",
  "skillVersions"."userId",
  "skillVersions"."createdAt"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
  inner join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" < cast(:cursor as integer)
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
    and ("skills"."id" is not null)
  )
order by
  "skillVersions"."version" desc
limit
  + :rowLimit;

-- updatable.check
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
  "skills"."id" is not null as "skillExists",
  (
    select
      case
        when "organizationUsage"."skillBytes" + (
          (
            select
              coalesce(sum("new".value ->> 'bytes'), 0)
            from
              json_each(:contents) as "new"
            where
              not exists (
                select
                  1
                from
                  "skillContents"
                where
                  (
                    "skillContents"."organizationId" = "apiKeys"."organizationId"
                    and "skillContents"."skillId" = + :skillId
                    and "skillContents"."sha256" = "new".value ->> 'sha256'
                  )
              )
          )
        ) > max("organizationUsage"."skillBytes", :quota.skillBytes) then 'skillBytes'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  not exists (
    select
      "id"
    from
      "skills" "other"
    where
      (
        "other"."organizationId" = "apiKeys"."organizationId"
        and "other"."name" = + :name
        and "other"."id" <> :skillId
      )
  ) as "nameIsFree",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "skills"."revision" is not null
  )
  or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
  left join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" = "skills"."version"
  )
  left join "orphanedObjects" on (
    "orphanedObjects"."objectKey" = + :objectKey
    and "orphanedObjects"."deleteAfter" > :notSweptBefore
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- updateSkill
update "skills"
set
  "name" = + :name,
  "description" = + :description,
  "version" = "skills"."latestVersion" + 1,
  "latestVersion" = "skills"."latestVersion" + 1,
  "revision" = + :revision,
  "updatedAt" = + :now
where
  (
    "skills"."organizationId" = (
      select
        "skills"."organizationId"
      from
        "apiKeys"
        left join "skills" on (
          "skills"."organizationId" = "apiKeys"."organizationId"
          and "skills"."id" = + :skillId
        )
        left join "skillVersions" on (
          (
            "skillVersions"."organizationId" = "skills"."organizationId"
            and "skillVersions"."skillId" = "skills"."id"
          )
          and "skillVersions"."version" = "skills"."version"
        )
        left join "orphanedObjects" on (
          "orphanedObjects"."objectKey" = + :objectKey
          and "orphanedObjects"."deleteAfter" > :notSweptBefore
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
            and ("skills"."id" is not null)
            and (
              select
                case
                  when "organizationUsage"."skillBytes" + (
                    (
                      select
                        coalesce(sum("new".value ->> 'bytes'), 0)
                      from
                        json_each(:contents) as "new"
                      where
                        not exists (
                          select
                            1
                          from
                            "skillContents"
                          where
                            (
                              "skillContents"."organizationId" = "apiKeys"."organizationId"
                              and "skillContents"."skillId" = + :skillId
                              and "skillContents"."sha256" = "new".value ->> 'sha256'
                            )
                        )
                    )
                  ) > max("organizationUsage"."skillBytes", :quota.skillBytes) then 'skillBytes'
                end
              from
                "organizationUsage"
              where
                "organizationUsage"."organizationId" = "apiKeys"."organizationId"
            ) is null
            and (
              not exists (
                select
                  "id"
                from
                  "skills" "other"
                where
                  (
                    "other"."organizationId" = "apiKeys"."organizationId"
                    and "other"."name" = + :name
                    and "other"."id" <> :skillId
                  )
              )
            )
            and (
              :ifMatch is null
              or (
                :ifMatch = '*'
                and "skills"."revision" is not null
              )
              or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0
            )
            and ("orphanedObjects"."objectKey" is not null)
          )
          and "skillVersions"."files" is not :files
        )
    )
    and "skills"."id" = + :skillId
  );

-- updateSkill.recording
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
  "apiKeys"."organizationId" as "organizationId",
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
  'skill.updated' as "type",
  "skills"."id" as "resourceId",
  null as "parentId",
  :name as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
  left join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" = "skills"."version"
  )
  left join "orphanedObjects" on (
    "orphanedObjects"."objectKey" = + :objectKey
    and "orphanedObjects"."deleteAfter" > :notSweptBefore
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
      and ("skills"."id" is not null)
      and (
        select
          case
            when "organizationUsage"."skillBytes" + (
              (
                select
                  coalesce(sum("new".value ->> 'bytes'), 0)
                from
                  json_each(:contents) as "new"
                where
                  not exists (
                    select
                      1
                    from
                      "skillContents"
                    where
                      (
                        "skillContents"."organizationId" = "apiKeys"."organizationId"
                        and "skillContents"."skillId" = + :skillId
                        and "skillContents"."sha256" = "new".value ->> 'sha256'
                      )
                  )
              )
            ) > max("organizationUsage"."skillBytes", :quota.skillBytes) then 'skillBytes'
          end
        from
          "organizationUsage"
        where
          "organizationUsage"."organizationId" = "apiKeys"."organizationId"
      ) is null
      and (
        not exists (
          select
            "id"
          from
            "skills" "other"
          where
            (
              "other"."organizationId" = "apiKeys"."organizationId"
              and "other"."name" = + :name
              and "other"."id" <> :skillId
            )
        )
      )
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "skills"."revision" is not null
        )
        or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0
      )
      and ("orphanedObjects"."objectKey" is not null)
    )
    and (
      "skillVersions"."files" is not :files
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
    )
  );

-- versionReadable.check
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
  "skills"."id" is not null as "skillExists",
  (
    "skills"."id" is null
    or "skillVersions"."version" is not null
  ) as "versionExists"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = + :skillId
  )
  left join "skillVersions" on (
    (
      "skillVersions"."organizationId" = "skills"."organizationId"
      and "skillVersions"."skillId" = "skills"."id"
    )
    and "skillVersions"."version" = cast(:version as integer)
  )
where
  "apiKeys"."hash" = + :caller.keyHash;
