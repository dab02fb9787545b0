-- src/resources/session-files/statements.ts

-- addDeletedToOrphans
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  "sessionFiles"."objectKey" as "objectKey",
  :deleteAfter as "deleteAfter"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :sessionId
  )
  left join "projects" on (
    "projects"."organizationId" = "sessions"."organizationId"
    and "projects"."id" = "sessions"."projectId"
  )
  left join "sessionFiles" on (
    (
      "sessionFiles"."organizationId" = "sessions"."organizationId"
      and "sessionFiles"."sessionId" = "sessions"."id"
    )
    and "sessionFiles"."id" = + :fileId
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
      (
        "sessions"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and (
      (
        "apiKeys"."projectIds" is null
        or coalesce("sessions"."projectId", "deletions"."projectId") in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and (
      (
        case
          when ("sessions"."organizationId", "sessions"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        or (
          "sessions"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and (
      (
        "sessionFiles"."id" is not null
        or not (
          (
            case
              when ("sessions"."organizationId", "sessions"."projectId") in (
                select
                  "projects"."organizationId",
                  "projects"."id"
                from
                  "projects"
              ) then 1
              else 0
            end
            or (
              "sessions"."id" is null
              and "deletions"."resourceId" is null
            )
          )
        )
      )
    )
    and ("projects"."archivedAt" is null)
  )
on conflict do nothing;

-- addReplacedToOrphans
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  "sessionFiles"."objectKey" as "objectKey",
  :deleteAfter as "deleteAfter"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :sessionId
  )
  left join "projects" on (
    "projects"."organizationId" = "sessions"."organizationId"
    and "projects"."id" = "sessions"."projectId"
  )
  left join "sessionFiles" on (
    (
      "sessionFiles"."organizationId" = "sessions"."organizationId"
      and "sessionFiles"."sessionId" = "sessions"."id"
    )
    and "sessionFiles"."path" = + :path
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
      and (
        (
          "sessions"."id" is not null
          or "deletions"."resourceId" is not null
        )
      )
      and (
        (
          "apiKeys"."projectIds" is null
          or coalesce("sessions"."projectId", "deletions"."projectId") in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and (
        (
          case
            when ("sessions"."organizationId", "sessions"."projectId") in (
              select
                "projects"."organizationId",
                "projects"."id"
              from
                "projects"
            ) then 1
            else 0
          end
          or (
            "sessions"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and ("projects"."archivedAt" is null)
      and (
        select
          case
            when "organizationUsage"."files" + ("sessionFiles"."id" is null) > max("organizationUsage"."files", :quota.files) then 'files'
            when "organizationUsage"."bytes" + (:sizeBytes - coalesce("sessionFiles"."sizeBytes", 0)) > max("organizationUsage"."bytes", :quota.bytes) then 'bytes'
          end
        from
          "organizationUsage"
        where
          "organizationUsage"."organizationId" = "apiKeys"."organizationId"
      ) is null
      and ("orphanedObjects"."objectKey" is not null)
    )
    and "sessionFiles"."objectKey" is not null
  )
on conflict do nothing;

-- addUnrecordedToOrphans
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  :objectKey,
  :deleteAfter
where
  not exists (
    select
      "objectKey"
    from
      "sessionFiles"
    where
      (
        "sessionFiles"."organizationId" = (
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
        and "sessionFiles"."sessionId" = + :sessionId
        and "sessionFiles"."path" = + :path
        and "sessionFiles"."objectKey" = + :objectKey
      )
  )
on conflict do nothing;

-- beginUpload
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  'session-files/' || "sessions"."organizationId" || '/' || :objectId as "objectKey",
  :deleteAfter as "deleteAfter"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :sessionId
  )
  left join "projects" on (
    "projects"."organizationId" = "sessions"."organizationId"
    and "projects"."id" = "sessions"."projectId"
  )
  left join "sessionFiles" on (
    (
      "sessionFiles"."organizationId" = "sessions"."organizationId"
      and "sessionFiles"."sessionId" = "sessions"."id"
    )
    and "sessionFiles"."path" = + :path
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
      (
        "sessions"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and (
      (
        "apiKeys"."projectIds" is null
        or coalesce("sessions"."projectId", "deletions"."projectId") in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and (
      (
        case
          when ("sessions"."organizationId", "sessions"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        or (
          "sessions"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and ("projects"."archivedAt" is null)
    and (
      select
        case
          when "organizationUsage"."files" + ("sessionFiles"."id" is null) > max("organizationUsage"."files", :quota.files) then 'files'
          when "organizationUsage"."bytes" + (:sizeBytes - coalesce("sessionFiles"."sizeBytes", 0)) > max("organizationUsage"."bytes", :quota.bytes) then 'bytes'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
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
  (
    "sessions"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "sessionExists",
  (
    "apiKeys"."projectIds" is null
    or coalesce("sessions"."projectId", "deletions"."projectId") in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "sessionIsAccessible",
  (
    case
      when ("sessions"."organizationId", "sessions"."projectId") in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    or (
      "sessions"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "sessionIsNotDeleted",
  (
    "sessionFiles"."id" is not null
    or not (
      (
        case
          when ("sessions"."organizationId", "sessions"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        or (
          "sessions"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
  ) as "fileExists",
  "projects"."archivedAt" is null as "projectIsActive"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :sessionId
  )
  left join "projects" on (
    "projects"."organizationId" = "sessions"."organizationId"
    and "projects"."id" = "sessions"."projectId"
  )
  left join "sessionFiles" on (
    (
      "sessionFiles"."organizationId" = "sessions"."organizationId"
      and "sessionFiles"."sessionId" = "sessions"."id"
    )
    and "sessionFiles"."id" = + :fileId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- deleteFile
delete from "sessionFiles"
where
  (
    "sessionFiles"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "sessions" on (
          "sessions"."organizationId" = "apiKeys"."organizationId"
          and "sessions"."id" = + :sessionId
        )
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."resourceType" = + 'session'
          and "deletions"."resourceId" = + :sessionId
        )
        left join "projects" on (
          "projects"."organizationId" = "sessions"."organizationId"
          and "projects"."id" = "sessions"."projectId"
        )
        left join "sessionFiles" on (
          (
            "sessionFiles"."organizationId" = "sessions"."organizationId"
            and "sessionFiles"."sessionId" = "sessions"."id"
          )
          and "sessionFiles"."id" = + :fileId
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
            (
              "sessions"."id" is not null
              or "deletions"."resourceId" is not null
            )
          )
          and (
            (
              "apiKeys"."projectIds" is null
              or coalesce("sessions"."projectId", "deletions"."projectId") in (
                select
                  value
                from
                  json_each("apiKeys"."projectIds")
              )
            )
          )
          and (
            (
              case
                when ("sessions"."organizationId", "sessions"."projectId") in (
                  select
                    "projects"."organizationId",
                    "projects"."id"
                  from
                    "projects"
                ) then 1
                else 0
              end
              or (
                "sessions"."id" is null
                and "deletions"."resourceId" is null
              )
            )
          )
          and (
            (
              "sessionFiles"."id" is not null
              or not (
                (
                  case
                    when ("sessions"."organizationId", "sessions"."projectId") in (
                      select
                        "projects"."organizationId",
                        "projects"."id"
                      from
                        "projects"
                    ) then 1
                    else 0
                  end
                  or (
                    "sessions"."id" is null
                    and "deletions"."resourceId" is null
                  )
                )
              )
            )
          )
          and ("projects"."archivedAt" is null)
        )
    )
    and "sessionFiles"."sessionId" = + :sessionId
    and "sessionFiles"."id" = + :fileId
  )
returning
  "objectKey";

-- deleteFile.recording
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
  'session-file.deleted' as "type",
  "sessionFiles"."id" as "resourceId",
  "sessionFiles"."sessionId" as "parentId",
  "sessionFiles"."path" as "resourceName",
  "sessions"."projectId" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :sessionId
  )
  left join "projects" on (
    "projects"."organizationId" = "sessions"."organizationId"
    and "projects"."id" = "sessions"."projectId"
  )
  left join "sessionFiles" on (
    (
      "sessionFiles"."organizationId" = "sessions"."organizationId"
      and "sessionFiles"."sessionId" = "sessions"."id"
    )
    and "sessionFiles"."id" = + :fileId
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
      and (
        (
          "sessions"."id" is not null
          or "deletions"."resourceId" is not null
        )
      )
      and (
        (
          "apiKeys"."projectIds" is null
          or coalesce("sessions"."projectId", "deletions"."projectId") in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and (
        (
          case
            when ("sessions"."organizationId", "sessions"."projectId") in (
              select
                "projects"."organizationId",
                "projects"."id"
              from
                "projects"
            ) then 1
            else 0
          end
          or (
            "sessions"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and (
        (
          "sessionFiles"."id" is not null
          or not (
            (
              case
                when ("sessions"."organizationId", "sessions"."projectId") in (
                  select
                    "projects"."organizationId",
                    "projects"."id"
                  from
                    "projects"
                ) then 1
                else 0
              end
              or (
                "sessions"."id" is null
                and "deletions"."resourceId" is null
              )
            )
          )
        )
      )
      and ("projects"."archivedAt" is null)
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

-- listable.check
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
  (
    "sessions"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "sessionExists",
  (
    "apiKeys"."projectIds" is null
    or coalesce("sessions"."projectId", "deletions"."projectId") in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "sessionIsAccessible",
  (
    case
      when ("sessions"."organizationId", "sessions"."projectId") in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    or (
      "sessions"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "sessionIsNotDeleted",
  not exists (
    select
      1
    from
      "sessionFiles"
    where
      (
        "sessionFiles"."organizationId" = "apiKeys"."organizationId"
        and "sessionFiles"."id" = + :cursor
        and "sessionFiles"."sessionId" <> :sessionId
      )
  ) as "cursorIsInSession"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :sessionId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- putFile
insert into
  "sessionFiles" (
    "organizationId",
    "sessionId",
    "id",
    "path",
    "objectKey",
    "sizeBytes",
    "createdAt",
    "updatedAt",
    "contentType",
    "sha256"
  )
select
  "sessions"."organizationId" as "organizationId",
  "sessions"."id" as "sessionId",
  :fileId as "id",
  :path as "path",
  "orphanedObjects"."objectKey" as "objectKey",
  cast(:sizeBytes as integer) as "sizeBytes",
  :now as "createdAt",
  :now as "updatedAt",
  :contentType as "contentType",
  :sha256 as "sha256"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :sessionId
  )
  left join "projects" on (
    "projects"."organizationId" = "sessions"."organizationId"
    and "projects"."id" = "sessions"."projectId"
  )
  left join "sessionFiles" on (
    (
      "sessionFiles"."organizationId" = "sessions"."organizationId"
      and "sessionFiles"."sessionId" = "sessions"."id"
    )
    and "sessionFiles"."path" = + :path
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
    and (
      (
        "sessions"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and (
      (
        "apiKeys"."projectIds" is null
        or coalesce("sessions"."projectId", "deletions"."projectId") in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and (
      (
        case
          when ("sessions"."organizationId", "sessions"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        or (
          "sessions"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and ("projects"."archivedAt" is null)
    and (
      select
        case
          when "organizationUsage"."files" + ("sessionFiles"."id" is null) > max("organizationUsage"."files", :quota.files) then 'files'
          when "organizationUsage"."bytes" + (:sizeBytes - coalesce("sessionFiles"."sizeBytes", 0)) > max("organizationUsage"."bytes", :quota.bytes) then 'bytes'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
    and ("orphanedObjects"."objectKey" is not null)
  )
on conflict ("sessionFiles"."organizationId", "sessionFiles"."sessionId", "sessionFiles"."path") do update
set
  "objectKey" = excluded."objectKey",
  "sizeBytes" = excluded."sizeBytes",
  "updatedAt" = excluded."updatedAt",
  "contentType" = excluded."contentType",
  "sha256" = excluded."sha256"
returning
  "id",
  "sessionId",
  "path",
  "createdAt",
  "updatedAt",
  "sizeBytes",
  coalesce("contentType", 'application/octet-stream') as "contentType",
  "sha256";

-- putFile.recording
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
  case
    when "sessionFiles"."id" is null then 'session-file.created'
    else 'session-file.updated'
  end as "type",
  coalesce("sessionFiles"."id", :fileId) as "resourceId",
  "sessions"."id" as "parentId",
  :path as "resourceName",
  "sessions"."projectId" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :sessionId
  )
  left join "projects" on (
    "projects"."organizationId" = "sessions"."organizationId"
    and "projects"."id" = "sessions"."projectId"
  )
  left join "sessionFiles" on (
    (
      "sessionFiles"."organizationId" = "sessions"."organizationId"
      and "sessionFiles"."sessionId" = "sessions"."id"
    )
    and "sessionFiles"."path" = + :path
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
      and (
        (
          "sessions"."id" is not null
          or "deletions"."resourceId" is not null
        )
      )
      and (
        (
          "apiKeys"."projectIds" is null
          or coalesce("sessions"."projectId", "deletions"."projectId") in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and (
        (
          case
            when ("sessions"."organizationId", "sessions"."projectId") in (
              select
                "projects"."organizationId",
                "projects"."id"
              from
                "projects"
            ) then 1
            else 0
          end
          or (
            "sessions"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and ("projects"."archivedAt" is null)
      and (
        select
          case
            when "organizationUsage"."files" + ("sessionFiles"."id" is null) > max("organizationUsage"."files", :quota.files) then 'files'
            when "organizationUsage"."bytes" + (:sizeBytes - coalesce("sessionFiles"."sizeBytes", 0)) > max("organizationUsage"."bytes", :quota.bytes) then 'bytes'
          end
        from
          "organizationUsage"
        where
          "organizationUsage"."organizationId" = "apiKeys"."organizationId"
      ) is null
      and ("orphanedObjects"."objectKey" is not null)
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
  (
    "sessions"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "sessionExists",
  (
    "apiKeys"."projectIds" is null
    or coalesce("sessions"."projectId", "deletions"."projectId") in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "sessionIsAccessible",
  (
    case
      when ("sessions"."organizationId", "sessions"."projectId") in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    or (
      "sessions"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "sessionIsNotDeleted",
  (
    "sessionFiles"."id" is not null
    or not (
      (
        case
          when ("sessions"."organizationId", "sessions"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        or (
          "sessions"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
  ) as "fileExists"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :sessionId
  )
  left join "sessionFiles" on (
    (
      "sessionFiles"."organizationId" = "sessions"."organizationId"
      and "sessionFiles"."sessionId" = "sessions"."id"
    )
    and "sessionFiles"."id" = + :fileId
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
  (
    "sessions"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "sessionExists",
  (
    "apiKeys"."projectIds" is null
    or coalesce("sessions"."projectId", "deletions"."projectId") in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "sessionIsAccessible",
  (
    case
      when ("sessions"."organizationId", "sessions"."projectId") in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    or (
      "sessions"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "sessionIsNotDeleted",
  "projects"."archivedAt" is null as "projectIsActive",
  (
    select
      case
        when "organizationUsage"."files" + ("sessionFiles"."id" is null) > max("organizationUsage"."files", :quota.files) then 'files'
        when "organizationUsage"."bytes" + (:sizeBytes - coalesce("sessionFiles"."sizeBytes", 0)) > max("organizationUsage"."bytes", :quota.bytes) then 'bytes'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  "sessionFiles"."id" is null as "isNew"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :sessionId
  )
  left join "projects" on (
    "projects"."organizationId" = "sessions"."organizationId"
    and "projects"."id" = "sessions"."projectId"
  )
  left join "sessionFiles" on (
    (
      "sessionFiles"."organizationId" = "sessions"."organizationId"
      and "sessionFiles"."sessionId" = "sessions"."id"
    )
    and "sessionFiles"."path" = + :path
  )
  left join "orphanedObjects" on (
    "orphanedObjects"."objectKey" = + :objectKey
    and "orphanedObjects"."deleteAfter" > :notSweptBefore
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
      "sessionFiles"
    where
      (
        "sessionFiles"."organizationId" = (
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
        and "sessionFiles"."sessionId" = + :sessionId
        and "sessionFiles"."path" = + :path
        and "sessionFiles"."objectKey" = + :objectKey
      )
  );

-- searchFiles
select
  "id" as "id",
  "sessionId" as "sessionId",
  "path" as "path",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "sessionFiles"."id" as "id",
      "sessionFiles"."sessionId" as "sessionId",
      "sessionFiles"."path" as "path",
      "sessionFiles"."createdAt" as "createdAt",
      "sessionFiles"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "sessionFiles" indexed by "sessionFilesById"
        where
          (
            "sessionFiles"."organizationId" = (
              select
                "organizationId"
              from
                "apiKeys"
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
                  and ("apiKeys"."projectIds" is null)
                )
            )
            and "sessionFiles"."id" > :cursor
          )
        order by
          "sessionFiles"."id" asc
        limit
          2500
      ) as "sessionFiles"
      inner join "sessions" on (
        "sessions"."organizationId" = "sessionFiles"."organizationId"
        and "sessions"."id" = "sessionFiles"."sessionId"
      )
    where
      (
        (
          :query is null
          or instr(lower("sessionFiles"."path"), lower(:query)) > 0
        )
        and case
          when ("sessions"."organizationId", "sessions"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
      )
    union all
    select
      *
    from
      (
        select
          "sessionFiles"."id",
          null,
          null,
          null,
          null,
          1
        from
          "sessionFiles" indexed by "sessionFilesById"
        where
          (
            "sessionFiles"."organizationId" = (
              select
                "organizationId"
              from
                "apiKeys"
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
                  and ("apiKeys"."projectIds" is null)
                )
            )
            and "sessionFiles"."id" > :cursor
          )
        order by
          "sessionFiles"."id" asc
        limit
          (
            (
              :query is not null
              or exists (
                select
                  1
                from
                  "deletions"
                where
                  "deletions"."organizationId" = (
                    select
                      "organizationId"
                    from
                      "apiKeys"
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
                        and ("apiKeys"."projectIds" is null)
                      )
                  )
                  and "deletions"."resourceType" in ('project', 'session')
              )
            )
          )
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- searchFilesOfSession
select
  "id" as "id",
  "sessionId" as "sessionId",
  "path" as "path",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "sessionFiles"."id" as "id",
      "sessionFiles"."sessionId" as "sessionId",
      "sessionFiles"."path" as "path",
      "sessionFiles"."createdAt" as "createdAt",
      "sessionFiles"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "sessionFiles"
        where
          (
            "sessionFiles"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "sessions" on (
                  "sessions"."organizationId" = "apiKeys"."organizationId"
                  and "sessions"."id" = + :sessionId
                )
                left join "deletions" on (
                  "deletions"."organizationId" = "apiKeys"."organizationId"
                  and "deletions"."resourceType" = + 'session'
                  and "deletions"."resourceId" = + :sessionId
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
                    (
                      "sessions"."id" is not null
                      or "deletions"."resourceId" is not null
                    )
                  )
                  and (
                    (
                      "apiKeys"."projectIds" is null
                      or coalesce("sessions"."projectId", "deletions"."projectId") in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                  and (
                    (
                      case
                        when ("sessions"."organizationId", "sessions"."projectId") in (
                          select
                            "projects"."organizationId",
                            "projects"."id"
                          from
                            "projects"
                        ) then 1
                        else 0
                      end
                      or (
                        "sessions"."id" is null
                        and "deletions"."resourceId" is null
                      )
                    )
                  )
                )
            )
            and "sessionFiles"."sessionId" = + :sessionId
            and "sessionFiles"."id" > :cursor
          )
        order by
          "sessionFiles"."id" asc
        limit
          2500
      ) as "sessionFiles"
    where
      (
        :query is null
        or instr(lower("sessionFiles"."path"), lower(:query)) > 0
      )
    union all
    select
      *
    from
      (
        select
          "sessionFiles"."id",
          null,
          null,
          null,
          null,
          1
        from
          "sessionFiles"
        where
          (
            "sessionFiles"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "sessions" on (
                  "sessions"."organizationId" = "apiKeys"."organizationId"
                  and "sessions"."id" = + :sessionId
                )
                left join "deletions" on (
                  "deletions"."organizationId" = "apiKeys"."organizationId"
                  and "deletions"."resourceType" = + 'session'
                  and "deletions"."resourceId" = + :sessionId
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
                    (
                      "sessions"."id" is not null
                      or "deletions"."resourceId" is not null
                    )
                  )
                  and (
                    (
                      "apiKeys"."projectIds" is null
                      or coalesce("sessions"."projectId", "deletions"."projectId") in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                  and (
                    (
                      case
                        when ("sessions"."organizationId", "sessions"."projectId") in (
                          select
                            "projects"."organizationId",
                            "projects"."id"
                          from
                            "projects"
                        ) then 1
                        else 0
                      end
                      or (
                        "sessions"."id" is null
                        and "deletions"."resourceId" is null
                      )
                    )
                  )
                )
            )
            and "sessionFiles"."sessionId" = + :sessionId
            and "sessionFiles"."id" > :cursor
          )
        order by
          "sessionFiles"."id" asc
        limit
          (:query is not null)
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- searchable.check
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
  ) as "isLastUsedStale",
  "apiKeys"."projectIds" is null as "isUnrestricted"
from
  "apiKeys"
where
  "apiKeys"."hash" = + :caller.keyHash;

-- searchableInSession.check
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
  (
    "sessions"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "sessionExists",
  (
    "apiKeys"."projectIds" is null
    or coalesce("sessions"."projectId", "deletions"."projectId") in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "sessionIsAccessible",
  (
    case
      when ("sessions"."organizationId", "sessions"."projectId") in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    or (
      "sessions"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "sessionIsNotDeleted"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :sessionId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- selectContent
select
  "sessionFiles"."objectKey",
  "sessionFiles"."sizeBytes"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :sessionId
  )
  left join "sessionFiles" on (
    (
      "sessionFiles"."organizationId" = "sessions"."organizationId"
      and "sessionFiles"."sessionId" = "sessions"."id"
    )
    and "sessionFiles"."id" = + :fileId
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
      (
        "sessions"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and (
      (
        "apiKeys"."projectIds" is null
        or coalesce("sessions"."projectId", "deletions"."projectId") in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and (
      (
        case
          when ("sessions"."organizationId", "sessions"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        or (
          "sessions"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and (
      (
        "sessionFiles"."id" is not null
        or not (
          (
            case
              when ("sessions"."organizationId", "sessions"."projectId") in (
                select
                  "projects"."organizationId",
                  "projects"."id"
                from
                  "projects"
              ) then 1
              else 0
            end
            or (
              "sessions"."id" is null
              and "deletions"."resourceId" is null
            )
          )
        )
      )
    )
  );

-- selectFile
select
  "sessionFiles"."id",
  "sessionFiles"."sessionId",
  "sessionFiles"."path",
  "sessionFiles"."createdAt",
  "sessionFiles"."updatedAt",
  "sessionFiles"."sizeBytes",
  coalesce("sessionFiles"."contentType", 'application/octet-stream') as "contentType",
  "sessionFiles"."sha256"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :sessionId
  )
  left join "sessionFiles" on (
    (
      "sessionFiles"."organizationId" = "sessions"."organizationId"
      and "sessionFiles"."sessionId" = "sessions"."id"
    )
    and "sessionFiles"."id" = + :fileId
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
      (
        "sessions"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and (
      (
        "apiKeys"."projectIds" is null
        or coalesce("sessions"."projectId", "deletions"."projectId") in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and (
      (
        case
          when ("sessions"."organizationId", "sessions"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        or (
          "sessions"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and (
      (
        "sessionFiles"."id" is not null
        or not (
          (
            case
              when ("sessions"."organizationId", "sessions"."projectId") in (
                select
                  "projects"."organizationId",
                  "projects"."id"
                from
                  "projects"
              ) then 1
              else 0
            end
            or (
              "sessions"."id" is null
              and "deletions"."resourceId" is null
            )
          )
        )
      )
    )
  );

-- selectFiles
select
  "id",
  "sessionId",
  "path",
  "createdAt",
  "updatedAt"
from
  "sessionFiles"
where
  (
    "sessionFiles"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "sessions" on (
          "sessions"."organizationId" = "apiKeys"."organizationId"
          and "sessions"."id" = + :sessionId
        )
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."resourceType" = + 'session'
          and "deletions"."resourceId" = + :sessionId
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
            (
              "sessions"."id" is not null
              or "deletions"."resourceId" is not null
            )
          )
          and (
            (
              "apiKeys"."projectIds" is null
              or coalesce("sessions"."projectId", "deletions"."projectId") in (
                select
                  value
                from
                  json_each("apiKeys"."projectIds")
              )
            )
          )
          and (
            (
              case
                when ("sessions"."organizationId", "sessions"."projectId") in (
                  select
                    "projects"."organizationId",
                    "projects"."id"
                  from
                    "projects"
                ) then 1
                else 0
              end
              or (
                "sessions"."id" is null
                and "deletions"."resourceId" is null
              )
            )
          )
          and (
            not exists (
              select
                1
              from
                "sessionFiles"
              where
                (
                  "sessionFiles"."organizationId" = "apiKeys"."organizationId"
                  and "sessionFiles"."id" = + :cursor
                  and "sessionFiles"."sessionId" <> :sessionId
                )
            )
          )
        )
    )
    and "sessionFiles"."sessionId" = + :sessionId
    and "sessionFiles"."id" > :cursor
  )
order by
  "sessionFiles"."id" asc
limit
  + :rowLimit;

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
  (
    "sessions"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "sessionExists",
  (
    "apiKeys"."projectIds" is null
    or coalesce("sessions"."projectId", "deletions"."projectId") in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "sessionIsAccessible",
  (
    case
      when ("sessions"."organizationId", "sessions"."projectId") in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    or (
      "sessions"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "sessionIsNotDeleted",
  "projects"."archivedAt" is null as "projectIsActive",
  (
    select
      case
        when "organizationUsage"."files" + ("sessionFiles"."id" is null) > max("organizationUsage"."files", :quota.files) then 'files'
        when "organizationUsage"."bytes" + (:sizeBytes - coalesce("sessionFiles"."sizeBytes", 0)) > max("organizationUsage"."bytes", :quota.bytes) then 'bytes'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :sessionId
  )
  left join "projects" on (
    "projects"."organizationId" = "sessions"."organizationId"
    and "projects"."id" = "sessions"."projectId"
  )
  left join "sessionFiles" on (
    (
      "sessionFiles"."organizationId" = "sessions"."organizationId"
      and "sessionFiles"."sessionId" = "sessions"."id"
    )
    and "sessionFiles"."path" = + :path
  )
where
  "apiKeys"."hash" = + :caller.keyHash;
