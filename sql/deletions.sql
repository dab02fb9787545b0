-- src/resources/deletions/statements.ts

-- RESTORATIONS.project.insert
insert into
  "projects" ("organizationId", "id", "name", "description", "archivedAt", "createdAt", "updatedAt", "revision")
select
  "deletions"."organizationId" as "organizationId",
  "deletions"."row" ->> '$.id' as "id",
  "deletions"."row" ->> '$.name' as "name",
  "deletions"."row" ->> '$.description' as "description",
  "deletions"."row" ->> '$.archivedAt' as "archivedAt",
  "deletions"."row" ->> '$.createdAt' as "createdAt",
  "deletions"."row" ->> '$.updatedAt' as "updatedAt",
  lower(hex(randomblob(8))) as "revision"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
          or "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and ("agents"."archivedAt" is null)
      and (
        (
          not "deletions"."resourceType" in ('skill')
          or not exists (
            select
              1
            from
              "skills"
            where
              "skills"."organizationId" = "apiKeys"."organizationId"
              and "skills"."name" = ("deletions"."row" ->> '$.name')
          )
        )
      )
      and case
        when "deletions"."resourceType" in ('schedule')
        and (
          select
            count(*)
          from
            "schedules"
          where
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
        ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
      end is null
    )
    and "deletions"."resourceType" in ('project')
  )
returning
  "id" as "id";

-- RESTORATIONS.project.insert.recording
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
  'project.restored' as "type",
  "deletions"."resourceId" as "resourceId",
  "deletions"."agentId" as "parentId",
  ("deletions"."row" ->> '$.name') as "resourceName",
  "deletions"."projectId" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
          or "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and ("agents"."archivedAt" is null)
      and (
        (
          not "deletions"."resourceType" in ('skill')
          or not exists (
            select
              1
            from
              "skills"
            where
              "skills"."organizationId" = "apiKeys"."organizationId"
              and "skills"."name" = ("deletions"."row" ->> '$.name')
          )
        )
      )
      and case
        when "deletions"."resourceType" in ('schedule')
        and (
          select
            count(*)
          from
            "schedules"
          where
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
        ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
      end is null
    )
    and (
      "deletions"."resourceType" in ('project')
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

-- RESTORATIONS.project.remove
delete from "deletions"
where
  (
    "deletions"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."id" = + :deletionId
          and "deletions"."finalAt" > :now
          and not exists (
            select
              1
            from
              "deletions" "parent"
            where
              (
                "parent"."organizationId" = "deletions"."organizationId"
                and "parent"."resourceType" = case
                  when "deletions"."projectId" is null then 'agent'
                  else 'project'
                end
                and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
                and "parent"."finalAt" <= :now
              )
          )
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
          and ("deletions"."id" is not null)
          and (
            (
              "deletions"."projectId" is null
              or (
                "apiKeys"."projectIds" is null
                or "deletions"."projectId" in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
            )
          )
          and (
            (
              not "deletions"."resourceType" in ('agent', 'user')
              or "apiKeys"."projectIds" is null
            )
          )
        )
    )
    and "deletions"."id" = + :deletionId
    and exists (
      select
        1
      from
        "projects"
      where
        "projects"."organizationId" = "deletions"."organizationId"
        and "projects"."id" = "deletions"."resourceId"
    )
  );

-- RESTORATIONS.agent.insert
insert into
  "agents" ("organizationId", "id", "name", "description", "archivedAt", "createdAt", "updatedAt", "revision")
select
  "deletions"."organizationId" as "organizationId",
  "deletions"."row" ->> '$.id' as "id",
  "deletions"."row" ->> '$.name' as "name",
  "deletions"."row" ->> '$.description' as "description",
  "deletions"."row" ->> '$.archivedAt' as "archivedAt",
  "deletions"."row" ->> '$.createdAt' as "createdAt",
  "deletions"."row" ->> '$.updatedAt' as "updatedAt",
  lower(hex(randomblob(8))) as "revision"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
          or "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and ("agents"."archivedAt" is null)
      and (
        (
          not "deletions"."resourceType" in ('skill')
          or not exists (
            select
              1
            from
              "skills"
            where
              "skills"."organizationId" = "apiKeys"."organizationId"
              and "skills"."name" = ("deletions"."row" ->> '$.name')
          )
        )
      )
      and case
        when "deletions"."resourceType" in ('schedule')
        and (
          select
            count(*)
          from
            "schedules"
          where
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
        ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
      end is null
    )
    and "deletions"."resourceType" in ('agent')
  )
returning
  "id" as "id";

-- RESTORATIONS.agent.insert.recording
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
  'agent.restored' as "type",
  "deletions"."resourceId" as "resourceId",
  "deletions"."agentId" as "parentId",
  ("deletions"."row" ->> '$.name') as "resourceName",
  "deletions"."projectId" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
          or "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and ("agents"."archivedAt" is null)
      and (
        (
          not "deletions"."resourceType" in ('skill')
          or not exists (
            select
              1
            from
              "skills"
            where
              "skills"."organizationId" = "apiKeys"."organizationId"
              and "skills"."name" = ("deletions"."row" ->> '$.name')
          )
        )
      )
      and case
        when "deletions"."resourceType" in ('schedule')
        and (
          select
            count(*)
          from
            "schedules"
          where
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
        ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
      end is null
    )
    and (
      "deletions"."resourceType" in ('agent')
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

-- RESTORATIONS.agent.remove
delete from "deletions"
where
  (
    "deletions"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."id" = + :deletionId
          and "deletions"."finalAt" > :now
          and not exists (
            select
              1
            from
              "deletions" "parent"
            where
              (
                "parent"."organizationId" = "deletions"."organizationId"
                and "parent"."resourceType" = case
                  when "deletions"."projectId" is null then 'agent'
                  else 'project'
                end
                and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
                and "parent"."finalAt" <= :now
              )
          )
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
          and ("deletions"."id" is not null)
          and (
            (
              "deletions"."projectId" is null
              or (
                "apiKeys"."projectIds" is null
                or "deletions"."projectId" in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
            )
          )
          and (
            (
              not "deletions"."resourceType" in ('agent', 'user')
              or "apiKeys"."projectIds" is null
            )
          )
        )
    )
    and "deletions"."id" = + :deletionId
    and exists (
      select
        1
      from
        "agents"
      where
        "agents"."organizationId" = "deletions"."organizationId"
        and "agents"."id" = "deletions"."resourceId"
    )
  );

-- RESTORATIONS.session.insert
insert into
  "sessions" ("organizationId", "id", "name", "projectId", "createdAt", "updatedAt", "revision")
select
  "deletions"."organizationId" as "organizationId",
  "deletions"."row" ->> '$.id' as "id",
  "deletions"."row" ->> '$.name' as "name",
  "deletions"."row" ->> '$.projectId' as "projectId",
  "deletions"."row" ->> '$.createdAt' as "createdAt",
  "deletions"."row" ->> '$.updatedAt' as "updatedAt",
  lower(hex(randomblob(8))) as "revision"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
          or "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and ("agents"."archivedAt" is null)
      and (
        (
          not "deletions"."resourceType" in ('skill')
          or not exists (
            select
              1
            from
              "skills"
            where
              "skills"."organizationId" = "apiKeys"."organizationId"
              and "skills"."name" = ("deletions"."row" ->> '$.name')
          )
        )
      )
      and case
        when "deletions"."resourceType" in ('schedule')
        and (
          select
            count(*)
          from
            "schedules"
          where
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
        ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
      end is null
    )
    and "deletions"."resourceType" in ('session')
  )
returning
  "id" as "id";

-- RESTORATIONS.session.insert.recording
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
  'session.restored' as "type",
  "deletions"."resourceId" as "resourceId",
  "deletions"."agentId" as "parentId",
  ("deletions"."row" ->> '$.name') as "resourceName",
  "deletions"."projectId" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
          or "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and ("agents"."archivedAt" is null)
      and (
        (
          not "deletions"."resourceType" in ('skill')
          or not exists (
            select
              1
            from
              "skills"
            where
              "skills"."organizationId" = "apiKeys"."organizationId"
              and "skills"."name" = ("deletions"."row" ->> '$.name')
          )
        )
      )
      and case
        when "deletions"."resourceType" in ('schedule')
        and (
          select
            count(*)
          from
            "schedules"
          where
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
        ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
      end is null
    )
    and (
      "deletions"."resourceType" in ('session')
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

-- RESTORATIONS.session.remove
delete from "deletions"
where
  (
    "deletions"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."id" = + :deletionId
          and "deletions"."finalAt" > :now
          and not exists (
            select
              1
            from
              "deletions" "parent"
            where
              (
                "parent"."organizationId" = "deletions"."organizationId"
                and "parent"."resourceType" = case
                  when "deletions"."projectId" is null then 'agent'
                  else 'project'
                end
                and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
                and "parent"."finalAt" <= :now
              )
          )
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
          and ("deletions"."id" is not null)
          and (
            (
              "deletions"."projectId" is null
              or (
                "apiKeys"."projectIds" is null
                or "deletions"."projectId" in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
            )
          )
          and (
            (
              not "deletions"."resourceType" in ('agent', 'user')
              or "apiKeys"."projectIds" is null
            )
          )
        )
    )
    and "deletions"."id" = + :deletionId
    and exists (
      select
        1
      from
        "sessions"
      where
        "sessions"."organizationId" = "deletions"."organizationId"
        and "sessions"."id" = "deletions"."resourceId"
    )
  );

-- RESTORATIONS.pull_request.insert
insert into
  "pullRequests" ("organizationId", "id", "name", "projectId", "createdAt", "updatedAt", "revision")
select
  "deletions"."organizationId" as "organizationId",
  "deletions"."row" ->> '$.id' as "id",
  "deletions"."row" ->> '$.name' as "name",
  "deletions"."row" ->> '$.projectId' as "projectId",
  "deletions"."row" ->> '$.createdAt' as "createdAt",
  "deletions"."row" ->> '$.updatedAt' as "updatedAt",
  lower(hex(randomblob(8))) as "revision"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
          or "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and ("agents"."archivedAt" is null)
      and (
        (
          not "deletions"."resourceType" in ('skill')
          or not exists (
            select
              1
            from
              "skills"
            where
              "skills"."organizationId" = "apiKeys"."organizationId"
              and "skills"."name" = ("deletions"."row" ->> '$.name')
          )
        )
      )
      and case
        when "deletions"."resourceType" in ('schedule')
        and (
          select
            count(*)
          from
            "schedules"
          where
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
        ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
      end is null
    )
    and "deletions"."resourceType" in ('pull_request')
  )
returning
  "id" as "id";

-- RESTORATIONS.pull_request.insert.recording
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
  'pull-request.restored' as "type",
  "deletions"."resourceId" as "resourceId",
  "deletions"."agentId" as "parentId",
  ("deletions"."row" ->> '$.name') as "resourceName",
  "deletions"."projectId" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
          or "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and ("agents"."archivedAt" is null)
      and (
        (
          not "deletions"."resourceType" in ('skill')
          or not exists (
            select
              1
            from
              "skills"
            where
              "skills"."organizationId" = "apiKeys"."organizationId"
              and "skills"."name" = ("deletions"."row" ->> '$.name')
          )
        )
      )
      and case
        when "deletions"."resourceType" in ('schedule')
        and (
          select
            count(*)
          from
            "schedules"
          where
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
        ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
      end is null
    )
    and (
      "deletions"."resourceType" in ('pull_request')
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

-- RESTORATIONS.pull_request.remove
delete from "deletions"
where
  (
    "deletions"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."id" = + :deletionId
          and "deletions"."finalAt" > :now
          and not exists (
            select
              1
            from
              "deletions" "parent"
            where
              (
                "parent"."organizationId" = "deletions"."organizationId"
                and "parent"."resourceType" = case
                  when "deletions"."projectId" is null then 'agent'
                  else 'project'
                end
                and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
                and "parent"."finalAt" <= :now
              )
          )
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
          and ("deletions"."id" is not null)
          and (
            (
              "deletions"."projectId" is null
              or (
                "apiKeys"."projectIds" is null
                or "deletions"."projectId" in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
            )
          )
          and (
            (
              not "deletions"."resourceType" in ('agent', 'user')
              or "apiKeys"."projectIds" is null
            )
          )
        )
    )
    and "deletions"."id" = + :deletionId
    and exists (
      select
        1
      from
        "pullRequests"
      where
        "pullRequests"."organizationId" = "deletions"."organizationId"
        and "pullRequests"."id" = "deletions"."resourceId"
    )
  );

-- RESTORATIONS.user.insert
insert into
  "users" ("organizationId", "id", "name", "createdAt", "updatedAt", "revision")
select
  "deletions"."organizationId" as "organizationId",
  "deletions"."row" ->> '$.id' as "id",
  "deletions"."row" ->> '$.name' as "name",
  "deletions"."row" ->> '$.createdAt' as "createdAt",
  "deletions"."row" ->> '$.updatedAt' as "updatedAt",
  lower(hex(randomblob(8))) as "revision"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
          or "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and ("agents"."archivedAt" is null)
      and (
        (
          not "deletions"."resourceType" in ('skill')
          or not exists (
            select
              1
            from
              "skills"
            where
              "skills"."organizationId" = "apiKeys"."organizationId"
              and "skills"."name" = ("deletions"."row" ->> '$.name')
          )
        )
      )
      and case
        when "deletions"."resourceType" in ('schedule')
        and (
          select
            count(*)
          from
            "schedules"
          where
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
        ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
      end is null
    )
    and "deletions"."resourceType" in ('user')
  )
returning
  "id" as "id";

-- RESTORATIONS.user.insert.recording
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
  'user.restored' as "type",
  "deletions"."resourceId" as "resourceId",
  "deletions"."agentId" as "parentId",
  ("deletions"."row" ->> '$.name') as "resourceName",
  "deletions"."projectId" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
          or "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and ("agents"."archivedAt" is null)
      and (
        (
          not "deletions"."resourceType" in ('skill')
          or not exists (
            select
              1
            from
              "skills"
            where
              "skills"."organizationId" = "apiKeys"."organizationId"
              and "skills"."name" = ("deletions"."row" ->> '$.name')
          )
        )
      )
      and case
        when "deletions"."resourceType" in ('schedule')
        and (
          select
            count(*)
          from
            "schedules"
          where
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
        ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
      end is null
    )
    and (
      "deletions"."resourceType" in ('user')
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

-- RESTORATIONS.user.remove
delete from "deletions"
where
  (
    "deletions"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."id" = + :deletionId
          and "deletions"."finalAt" > :now
          and not exists (
            select
              1
            from
              "deletions" "parent"
            where
              (
                "parent"."organizationId" = "deletions"."organizationId"
                and "parent"."resourceType" = case
                  when "deletions"."projectId" is null then 'agent'
                  else 'project'
                end
                and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
                and "parent"."finalAt" <= :now
              )
          )
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
          and ("deletions"."id" is not null)
          and (
            (
              "deletions"."projectId" is null
              or (
                "apiKeys"."projectIds" is null
                or "deletions"."projectId" in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
            )
          )
          and (
            (
              not "deletions"."resourceType" in ('agent', 'user')
              or "apiKeys"."projectIds" is null
            )
          )
        )
    )
    and "deletions"."id" = + :deletionId
    and exists (
      select
        1
      from
        "users"
      where
        "users"."organizationId" = "deletions"."organizationId"
        and "users"."id" = "deletions"."resourceId"
    )
  );

-- RESTORATIONS.schedule.insert
insert into
  "schedules" (
    "organizationId",
    "id",
    "parentType",
    "parentId",
    "name",
    "cron",
    "runAt",
    "timezone",
    "overlap",
    "maxRunSeconds",
    "pauseAfterFailures",
    "enabledAt",
    "lastRunAt",
    "nextRunAt",
    "createdAt",
    "updatedAt",
    "idempotencyKey",
    "idempotencyFingerprint",
    "pausedReason",
    "revision",
    "note",
    "payload"
  )
select
  "deletions"."organizationId" as "organizationId",
  "deletions"."row" ->> '$.id' as "id",
  "deletions"."row" ->> '$.parentType' as "parentType",
  "deletions"."row" ->> '$.parentId' as "parentId",
  "deletions"."row" ->> '$.name' as "name",
  "deletions"."row" ->> '$.cron' as "cron",
  "deletions"."row" ->> '$.runAt' as "runAt",
  "deletions"."row" ->> '$.timezone' as "timezone",
  coalesce("deletions"."row" ->> '$.overlap', 'allow') as "overlap",
  "deletions"."row" ->> '$.maxRunSeconds' as "maxRunSeconds",
  "deletions"."row" ->> '$.pauseAfterFailures' as "pauseAfterFailures",
  "deletions"."row" ->> '$.enabledAt' as "enabledAt",
  "deletions"."row" ->> '$.lastRunAt' as "lastRunAt",
  :nextRunAt as "nextRunAt",
  "deletions"."row" ->> '$.createdAt' as "createdAt",
  "deletions"."row" ->> '$.updatedAt' as "updatedAt",
  case
    when not exists (
      select
        1
      from
        "schedules"
      where
        (
          "schedules"."organizationId" = "apiKeys"."organizationId"
          and "schedules"."idempotencyKey" = ("deletions"."row" ->> '$.idempotencyKey')
          and (
            "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
          )
        )
    ) then ("deletions"."row" ->> '$.idempotencyKey')
  end as "idempotencyKey",
  "deletions"."row" ->> '$.idempotencyFingerprint' as "idempotencyFingerprint",
  "deletions"."row" ->> '$.pausedReason' as "pausedReason",
  lower(hex(randomblob(8))) as "revision",
  "deletions"."row" ->> '$.note' as "note",
  "deletions"."row" ->> '$.payload' as "payload"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
          or "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and ("agents"."archivedAt" is null)
      and (
        (
          not "deletions"."resourceType" in ('skill')
          or not exists (
            select
              1
            from
              "skills"
            where
              "skills"."organizationId" = "apiKeys"."organizationId"
              and "skills"."name" = ("deletions"."row" ->> '$.name')
          )
        )
      )
      and case
        when "deletions"."resourceType" in ('schedule')
        and (
          select
            count(*)
          from
            "schedules"
          where
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
        ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
      end is null
    )
    and "deletions"."resourceType" in ('schedule')
  )
returning
  "id" as "id";

-- RESTORATIONS.schedule.insert.recording
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
  'schedule.restored' as "type",
  "deletions"."resourceId" as "resourceId",
  "deletions"."agentId" as "parentId",
  ("deletions"."row" ->> '$.name') as "resourceName",
  "deletions"."projectId" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
          or "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and ("agents"."archivedAt" is null)
      and (
        (
          not "deletions"."resourceType" in ('skill')
          or not exists (
            select
              1
            from
              "skills"
            where
              "skills"."organizationId" = "apiKeys"."organizationId"
              and "skills"."name" = ("deletions"."row" ->> '$.name')
          )
        )
      )
      and case
        when "deletions"."resourceType" in ('schedule')
        and (
          select
            count(*)
          from
            "schedules"
          where
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
        ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
      end is null
    )
    and (
      "deletions"."resourceType" in ('schedule')
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

-- RESTORATIONS.schedule.remove
delete from "deletions"
where
  (
    "deletions"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."id" = + :deletionId
          and "deletions"."finalAt" > :now
          and not exists (
            select
              1
            from
              "deletions" "parent"
            where
              (
                "parent"."organizationId" = "deletions"."organizationId"
                and "parent"."resourceType" = case
                  when "deletions"."projectId" is null then 'agent'
                  else 'project'
                end
                and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
                and "parent"."finalAt" <= :now
              )
          )
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
          and ("deletions"."id" is not null)
          and (
            (
              "deletions"."projectId" is null
              or (
                "apiKeys"."projectIds" is null
                or "deletions"."projectId" in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
            )
          )
          and (
            (
              not "deletions"."resourceType" in ('agent', 'user')
              or "apiKeys"."projectIds" is null
            )
          )
        )
    )
    and "deletions"."id" = + :deletionId
    and exists (
      select
        1
      from
        "schedules"
      where
        "schedules"."organizationId" = "deletions"."organizationId"
        and "schedules"."id" = "deletions"."resourceId"
    )
  );

-- RESTORATIONS.skill.insert
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
  "deletions"."organizationId" as "organizationId",
  "deletions"."row" ->> '$.id' as "id",
  "deletions"."row" ->> '$.name' as "name",
  "deletions"."row" ->> '$.description' as "description",
  "deletions"."row" ->> '$.version' as "version",
  "deletions"."row" ->> '$.latestVersion' as "latestVersion",
  lower(hex(randomblob(8))) as "revision",
  "deletions"."row" ->> '$.createdAt' as "createdAt",
  "deletions"."row" ->> '$.updatedAt' as "updatedAt",
  case
    when not exists (
      select
        1
      from
        "skills"
      where
        (
          "skills"."organizationId" = "apiKeys"."organizationId"
          and "skills"."idempotencyKey" = ("deletions"."row" ->> '$.idempotencyKey')
        )
    ) then ("deletions"."row" ->> '$.idempotencyKey')
  end as "idempotencyKey",
  "deletions"."row" ->> '$.idempotencyFingerprint' as "idempotencyFingerprint"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
          or "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and ("agents"."archivedAt" is null)
      and (
        (
          not "deletions"."resourceType" in ('skill')
          or not exists (
            select
              1
            from
              "skills"
            where
              "skills"."organizationId" = "apiKeys"."organizationId"
              and "skills"."name" = ("deletions"."row" ->> '$.name')
          )
        )
      )
      and case
        when "deletions"."resourceType" in ('schedule')
        and (
          select
            count(*)
          from
            "schedules"
          where
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
        ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
      end is null
    )
    and "deletions"."resourceType" in ('skill')
  )
returning
  "id" as "id";

-- RESTORATIONS.skill.insert.recording
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
  'skill.restored' as "type",
  "deletions"."resourceId" as "resourceId",
  "deletions"."agentId" as "parentId",
  ("deletions"."row" ->> '$.name') as "resourceName",
  "deletions"."projectId" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
          or "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and ("agents"."archivedAt" is null)
      and (
        (
          not "deletions"."resourceType" in ('skill')
          or not exists (
            select
              1
            from
              "skills"
            where
              "skills"."organizationId" = "apiKeys"."organizationId"
              and "skills"."name" = ("deletions"."row" ->> '$.name')
          )
        )
      )
      and case
        when "deletions"."resourceType" in ('schedule')
        and (
          select
            count(*)
          from
            "schedules"
          where
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
            and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
        ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
      end is null
    )
    and (
      "deletions"."resourceType" in ('skill')
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

-- RESTORATIONS.skill.remove
delete from "deletions"
where
  (
    "deletions"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."id" = + :deletionId
          and "deletions"."finalAt" > :now
          and not exists (
            select
              1
            from
              "deletions" "parent"
            where
              (
                "parent"."organizationId" = "deletions"."organizationId"
                and "parent"."resourceType" = case
                  when "deletions"."projectId" is null then 'agent'
                  else 'project'
                end
                and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
                and "parent"."finalAt" <= :now
              )
          )
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
          and ("deletions"."id" is not null)
          and (
            (
              "deletions"."projectId" is null
              or (
                "apiKeys"."projectIds" is null
                or "deletions"."projectId" in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
            )
          )
          and (
            (
              not "deletions"."resourceType" in ('agent', 'user')
              or "apiKeys"."projectIds" is null
            )
          )
        )
    )
    and "deletions"."id" = + :deletionId
    and exists (
      select
        1
      from
        "skills"
      where
        "skills"."organizationId" = "deletions"."organizationId"
        and "skills"."id" = "deletions"."resourceId"
    )
  );

-- accessible.check
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
  "deletions"."id" is not null as "deletionExists",
  (
    "deletions"."projectId" is null
    or (
      "apiKeys"."projectIds" is null
      or "deletions"."projectId" in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
  ) as "projectIsAccessible",
  (
    not "deletions"."resourceType" in ('agent', 'user')
    or "apiKeys"."projectIds" is null
  ) as "isUnrestricted"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- listInProject
select
  "id" as "id",
  "resourceType" as "resourceType",
  "resourceId" as "resourceId",
  "name" as "name",
  "projectId" as "projectId",
  "agentId" as "agentId",
  "deletedAt" as "deletedAt",
  "finalAt" as "finalAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "deletions"."id" as "id",
      "deletions"."resourceType" as "resourceType",
      "deletions"."resourceId" as "resourceId",
      ("deletions"."row" ->> '$.name') as "name",
      "deletions"."projectId" as "projectId",
      "deletions"."agentId" as "agentId",
      "deletions"."deletedAt" as "deletedAt",
      "deletions"."finalAt" as "finalAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "deletions" indexed by "deletionsByParent"
        where
          (
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
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or :projectId in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and (
              "deletions"."projectId" = + :projectId
              and "deletions"."agentId" is null
            )
            and "deletions"."id" < :cursor
          )
        order by
          "deletions"."id" desc
        limit
          2500
      ) as "deletions"
    where
      (
        "deletions"."finalAt" > :now
        and not exists (
          select
            1
          from
            "deletions" "parent"
          where
            (
              "parent"."organizationId" = "deletions"."organizationId"
              and "parent"."resourceType" = case
                when "deletions"."projectId" is null then 'agent'
                else 'project'
              end
              and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
              and "parent"."finalAt" <= :now
            )
        )
        and (
          :resourceType is null
          or "deletions"."resourceType" = + :resourceType
        )
      )
    union all
    select
      *
    from
      (
        select
          "deletions"."id",
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          1
        from
          "deletions" indexed by "deletionsByParent"
        where
          (
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
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or :projectId in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and (
              "deletions"."projectId" = + :projectId
              and "deletions"."agentId" is null
            )
            and "deletions"."id" < :cursor
          )
        order by
          "deletions"."id" desc
        limit
          (true)
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- listOfAll
select
  "id" as "id",
  "resourceType" as "resourceType",
  "resourceId" as "resourceId",
  "name" as "name",
  "projectId" as "projectId",
  "agentId" as "agentId",
  "deletedAt" as "deletedAt",
  "finalAt" as "finalAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "deletions"."id" as "id",
      "deletions"."resourceType" as "resourceType",
      "deletions"."resourceId" as "resourceId",
      ("deletions"."row" ->> '$.name') as "name",
      "deletions"."projectId" as "projectId",
      "deletions"."agentId" as "agentId",
      "deletions"."deletedAt" as "deletedAt",
      "deletions"."finalAt" as "finalAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "deletions" indexed by "deletionsById"
        where
          (
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
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or :projectId in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and "deletions"."id" < :cursor
          )
        order by
          "deletions"."id" desc
        limit
          2500
      ) as "deletions"
    where
      (
        "deletions"."finalAt" > :now
        and not exists (
          select
            1
          from
            "deletions" "parent"
          where
            (
              "parent"."organizationId" = "deletions"."organizationId"
              and "parent"."resourceType" = case
                when "deletions"."projectId" is null then 'agent'
                else 'project'
              end
              and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
              and "parent"."finalAt" <= :now
            )
        )
        and (
          :resourceType is null
          or "deletions"."resourceType" = + :resourceType
        )
      )
    union all
    select
      *
    from
      (
        select
          "deletions"."id",
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          1
        from
          "deletions" indexed by "deletionsById"
        where
          (
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
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or :projectId in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and "deletions"."id" < :cursor
          )
        order by
          "deletions"."id" desc
        limit
          (true)
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- listable.check
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
  :projectId is not null
  or "apiKeys"."projectIds" is null as "isUnrestricted",
  :projectId is null
  or (
    "apiKeys"."projectIds" is null
    or :projectId in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible"
from
  "apiKeys"
where
  "apiKeys"."hash" = + :caller.keyHash;

-- purge
update "deletions"
set
  "finalAt" = + :now,
  "id" = + null,
  "row" = + null
where
  (
    "deletions"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."id" = + :deletionId
          and "deletions"."finalAt" > :now
          and not exists (
            select
              1
            from
              "deletions" "parent"
            where
              (
                "parent"."organizationId" = "deletions"."organizationId"
                and "parent"."resourceType" = case
                  when "deletions"."projectId" is null then 'agent'
                  else 'project'
                end
                and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
                and "parent"."finalAt" <= :now
              )
          )
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
          and ("deletions"."id" is not null)
          and (
            (
              "deletions"."projectId" is null
              or (
                "apiKeys"."projectIds" is null
                or "deletions"."projectId" in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
            )
          )
          and (
            (
              not "deletions"."resourceType" in ('agent', 'user')
              or "apiKeys"."projectIds" is null
            )
          )
        )
    )
    and "deletions"."id" = + :deletionId
  )
returning
  "resourceId";

-- purge.recording
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
  'deletion.purged' as "type",
  "deletions"."id" as "resourceId",
  null as "parentId",
  coalesce(("deletions"."row" ->> '$.name'), "deletions"."resourceId") as "resourceName",
  "deletions"."projectId" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
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
      and ("deletions"."id" is not null)
      and (
        (
          "deletions"."projectId" is null
          or (
            "apiKeys"."projectIds" is null
            or "deletions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
      )
      and (
        (
          not "deletions"."resourceType" in ('agent', 'user')
          or "apiKeys"."projectIds" is null
        )
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

-- restorable.check
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
  "deletions"."id" is not null as "deletionExists",
  (
    "deletions"."projectId" is null
    or (
      "apiKeys"."projectIds" is null
      or "deletions"."projectId" in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
  ) as "projectIsAccessible",
  (
    not "deletions"."resourceType" in ('agent', 'user')
    or "apiKeys"."projectIds" is null
  ) as "isUnrestricted",
  (
    not "deletions"."resourceType" in ('session', 'pull_request', 'schedule')
    or "projects"."id" is not null
    or "agents"."id" is not null
  ) as "parentExists",
  "projects"."archivedAt" is null as "projectIsActive",
  "agents"."archivedAt" is null as "agentIsActive",
  (
    not "deletions"."resourceType" in ('skill')
    or not exists (
      select
        1
      from
        "skills"
      where
        "skills"."organizationId" = "apiKeys"."organizationId"
        and "skills"."name" = ("deletions"."row" ->> '$.name')
    )
  ) as "nameIsFree",
  case
    when "deletions"."resourceType" in ('schedule')
    and (
      select
        count(*)
      from
        "schedules"
      where
        "schedules"."organizationId" = "apiKeys"."organizationId"
        and "schedules"."parentType" = ("deletions"."row" ->> '$.parentType')
        and "schedules"."parentId" = ("deletions"."row" ->> '$.parentId')
    ) >= :scheduleLimit then ("deletions"."row" ->> '$.parentType')
  end as "fullParent"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  left join "projects" on (
    "projects"."organizationId" = "deletions"."organizationId"
    and "projects"."id" = "deletions"."projectId"
  )
  left join "agents" on (
    "agents"."organizationId" = "deletions"."organizationId"
    and "agents"."id" = "deletions"."agentId"
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- selectDeletion
select
  "deletions"."id" as "id",
  "deletions"."resourceType",
  "deletions"."resourceId",
  ("deletions"."row" ->> '$.name') as "name",
  "deletions"."projectId",
  "deletions"."agentId",
  "deletions"."deletedAt",
  "deletions"."finalAt"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
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
    and ("deletions"."id" is not null)
    and (
      (
        "deletions"."projectId" is null
        or (
          "apiKeys"."projectIds" is null
          or "deletions"."projectId" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
    )
    and (
      (
        not "deletions"."resourceType" in ('agent', 'user')
        or "apiKeys"."projectIds" is null
      )
    )
  );

-- selectDue
select
  "schedules"."id" as "id",
  "schedules"."cron" as "cron",
  "schedules"."runAt" as "runAt",
  "schedules"."timezone" as "timezone",
  "schedules"."nextRunAt" as "dueAt"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
  )
  inner join "schedules" indexed by "schedulesByParent" on (
    "schedules"."organizationId" = "deletions"."organizationId"
    and "schedules"."parentType" = "deletions"."resourceType"
    and "schedules"."parentId" = "deletions"."resourceId"
    and "schedules"."nextRunAt" <= :now
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
    and ("deletions"."id" is not null)
    and (
      (
        "deletions"."projectId" is null
        or (
          "apiKeys"."projectIds" is null
          or "deletions"."projectId" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
    )
    and (
      (
        not "deletions"."resourceType" in ('agent', 'user')
        or "apiKeys"."projectIds" is null
      )
    )
  );

-- selectTiming
select
  "deletions"."resourceType",
  ("deletions"."row" ->> '$.cron') as "cron",
  ("deletions"."row" ->> '$.runAt') as "runAt",
  ("deletions"."row" ->> '$.timezone') as "timezone",
  ("deletions"."row" ->> '$.enabledAt') as "enabledAt"
from
  "apiKeys"
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."id" = + :deletionId
    and "deletions"."finalAt" > :now
    and not exists (
      select
        1
      from
        "deletions" "parent"
      where
        (
          "parent"."organizationId" = "deletions"."organizationId"
          and "parent"."resourceType" = case
            when "deletions"."projectId" is null then 'agent'
            else 'project'
          end
          and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
          and "parent"."finalAt" <= :now
        )
    )
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
    and ("deletions"."id" is not null)
    and (
      (
        "deletions"."projectId" is null
        or (
          "apiKeys"."projectIds" is null
          or "deletions"."projectId" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
    )
    and (
      (
        not "deletions"."resourceType" in ('agent', 'user')
        or "apiKeys"."projectIds" is null
      )
    )
  );

-- storeNextRuns
update "schedules"
set
  "nextRunAt" = ("nextRuns".value ->> 'nextRunAt')
from
  json_each(:nextRuns) as "nextRuns"
where
  (
    ("schedules"."organizationId", "schedules"."id") in (
      select
        (
          select
            "apiKeys"."organizationId"
          from
            "apiKeys"
            left join "deletions" on (
              "deletions"."organizationId" = "apiKeys"."organizationId"
              and "deletions"."id" = + :deletionId
              and "deletions"."finalAt" > :now
              and not exists (
                select
                  1
                from
                  "deletions" "parent"
                where
                  (
                    "parent"."organizationId" = "deletions"."organizationId"
                    and "parent"."resourceType" = case
                      when "deletions"."projectId" is null then 'agent'
                      else 'project'
                    end
                    and "parent"."resourceId" = coalesce("deletions"."projectId", "deletions"."agentId")
                    and "parent"."finalAt" <= :now
                  )
              )
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
              and ("deletions"."id" is not null)
              and (
                (
                  "deletions"."projectId" is null
                  or (
                    "apiKeys"."projectIds" is null
                    or "deletions"."projectId" in (
                      select
                        value
                      from
                        json_each("apiKeys"."projectIds")
                    )
                  )
                )
              )
              and (
                (
                  not "deletions"."resourceType" in ('agent', 'user')
                  or "apiKeys"."projectIds" is null
                )
              )
            )
        ),
        ("nextRuns".value ->> 'id')
      from
        json_each(:nextRuns) as "nextRuns"
    )
    and "schedules"."id" = ("nextRuns".value ->> 'id')
    and "schedules"."nextRunAt" = ("nextRuns".value ->> 'dueAt')
  );
