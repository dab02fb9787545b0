-- src/resources/work/schedules/preconditions.ts

-- agentPreconditions.creatable.check
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
  "agents"."id" is not null as "parentExists",
  "earlier"."id" is null as "idempotencyKeyIsNew",
  "agents"."archivedAt" is null as "parentIsActive",
  (
    select
      case
        when "organizationUsage"."schedules" + (1) > max("organizationUsage"."schedules", :quota.schedules) then 'schedules'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :parentId
  )
  left join "schedules" "earlier" on (
    (
      "earlier"."organizationId" = "apiKeys"."organizationId"
      and "earlier"."parentType" = + 'agent'
      and "earlier"."parentId" = + :parentId
    )
    and "earlier"."idempotencyKey" = + :idempotencyKey
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- agentPreconditions.listable.check
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
  "agents"."id" is not null as "parentExists"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :parentId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- agentPreconditions.deletable.check
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
  "agents"."id" is not null as "parentExists",
  "schedules"."id" is not null as "scheduleExists",
  "agents"."archivedAt" is null as "parentIsActive",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "schedules"."revision" is not null
  )
  or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'agent'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- agentPreconditions.puttable.check
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
  "agents"."id" is not null as "parentExists",
  "deletions"."resourceId" is null as "isNotDeleted",
  (
    "namesake"."id" is null
    or "schedules"."id" is not null
  ) as "isFreeId",
  "agents"."archivedAt" is null as "parentIsActive",
  (
    select
      case
        when "organizationUsage"."schedules" + ("schedules"."id" is null) > max("organizationUsage"."schedules", :quota.schedules) then 'schedules'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  (
    :runAt is null
    or :runAt > :now
    or :runAt is "schedules"."runAt"
  ) as "runAtIsAhead",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "schedules"."revision" is not null
  )
  or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0 as "matchesRevision",
  :ifNoneMatch is null
  or "schedules"."revision" is null as "isNewIfRequired",
  "schedules"."id" is null as "isNew"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'agent'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
  )
  left join "schedules" "namesake" on (
    "namesake"."organizationId" = "apiKeys"."organizationId"
    and "namesake"."id" = + :scheduleId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'schedule'
    and "deletions"."resourceId" = + :scheduleId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- projectPreconditions.creatable.check
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
  "projects"."id" is not null as "parentExists",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "projectIsAccessible",
  "earlier"."id" is null as "idempotencyKeyIsNew",
  "projects"."archivedAt" is null as "parentIsActive",
  (
    select
      case
        when "organizationUsage"."schedules" + (1) > max("organizationUsage"."schedules", :quota.schedules) then 'schedules'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :parentId
  )
  left join "schedules" "earlier" on (
    (
      "earlier"."organizationId" = "apiKeys"."organizationId"
      and "earlier"."parentType" = + 'project'
      and "earlier"."parentId" = + :parentId
    )
    and "earlier"."idempotencyKey" = + :idempotencyKey
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- projectPreconditions.listable.check
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
  "projects"."id" is not null as "parentExists",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "projectIsAccessible"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :parentId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- projectPreconditions.deletable.check
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
  "projects"."id" is not null as "parentExists",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "projectIsAccessible",
  "schedules"."id" is not null as "scheduleExists",
  "projects"."archivedAt" is null as "parentIsActive",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "schedules"."revision" is not null
  )
  or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'project'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- projectPreconditions.puttable.check
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
  "projects"."id" is not null as "parentExists",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "projectIsAccessible",
  "deletions"."resourceId" is null as "isNotDeleted",
  (
    "namesake"."id" is null
    or "schedules"."id" is not null
  ) as "isFreeId",
  "projects"."archivedAt" is null as "parentIsActive",
  (
    select
      case
        when "organizationUsage"."schedules" + ("schedules"."id" is null) > max("organizationUsage"."schedules", :quota.schedules) then 'schedules'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  (
    :runAt is null
    or :runAt > :now
    or :runAt is "schedules"."runAt"
  ) as "runAtIsAhead",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "schedules"."revision" is not null
  )
  or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0 as "matchesRevision",
  :ifNoneMatch is null
  or "schedules"."revision" is null as "isNewIfRequired",
  "schedules"."id" is null as "isNew"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'project'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
  )
  left join "schedules" "namesake" on (
    "namesake"."organizationId" = "apiKeys"."organizationId"
    and "namesake"."id" = + :scheduleId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'schedule'
    and "deletions"."resourceId" = + :scheduleId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- src/resources/work/schedules/statements.ts

-- agentSchedules.insert
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
  "apiKeys"."organizationId" as "organizationId",
  :id as "id",
  'agent' as "parentType",
  :parentId as "parentId",
  null as "name",
  :cron as "cron",
  null as "runAt",
  :timezone as "timezone",
  'allow' as "overlap",
  null as "maxRunSeconds",
  null as "pauseAfterFailures",
  :now as "enabledAt",
  null as "lastRunAt",
  :nextRunAt as "nextRunAt",
  :now as "createdAt",
  :now as "updatedAt",
  :idempotencyKey as "idempotencyKey",
  :idempotencyFingerprint as "idempotencyFingerprint",
  null as "pausedReason",
  lower(hex(randomblob(8))) as "revision",
  null as "note",
  null as "payload"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :parentId
  )
  left join "schedules" "earlier" on (
    (
      "earlier"."organizationId" = "apiKeys"."organizationId"
      and "earlier"."parentType" = + 'agent'
      and "earlier"."parentId" = + :parentId
    )
    and "earlier"."idempotencyKey" = + :idempotencyKey
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
    and ("agents"."id" is not null)
    and ("earlier"."id" is null)
    and ("agents"."archivedAt" is null)
    and (
      select
        case
          when "organizationUsage"."schedules" + (1) > max("organizationUsage"."schedules", :quota.schedules) then 'schedules'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
    and (
      (
        select
          count(*)
        from
          "schedules"
        where
          (
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = + 'agent'
            and "schedules"."parentId" = + :parentId
          )
      ) < :scheduleLimit
    )
  );

-- agentSchedules.insert.recording
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
  'schedule.created' as "type",
  :id as "resourceId",
  :parentId as "parentId",
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

-- agentSchedules.selectCreated
select
  "schedules"."id",
  "schedules"."parentId" as "agentId",
  "schedules"."cron" as "cron",
  "schedules"."enabledAt",
  "schedules"."lastRunAt",
  "schedules"."nextRunAt",
  "schedules"."createdAt",
  "schedules"."updatedAt",
  "schedules"."revision"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :parentId
  )
  inner join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'agent'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = coalesce(
      (
        select
          "id"
        from
          "schedules" "earlier"
        where
          (
            (
              "earlier"."organizationId" = "apiKeys"."organizationId"
              and "earlier"."parentType" = + 'agent'
              and "earlier"."parentId" = + :parentId
            )
            and "earlier"."idempotencyKey" = + :idempotencyKey
          )
      ),
      :id
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
      and ("agents"."id" is not null)
    )
    and (
      "schedules"."idempotencyKey" is null
      or (
        "schedules"."idempotencyFingerprint" = + :idempotencyFingerprint
        and "schedules"."cron" is not null
      )
    )
  );

-- agentSchedules.put
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
  "apiKeys"."organizationId" as "organizationId",
  :scheduleId as "id",
  'agent' as "parentType",
  :parentId as "parentId",
  :name as "name",
  :cron as "cron",
  :runAt as "runAt",
  :timezone as "timezone",
  :overlap as "overlap",
  :maxRunSeconds as "maxRunSeconds",
  :pauseAfterFailures as "pauseAfterFailures",
  case
    when :enabled then :now
  end as "enabledAt",
  null as "lastRunAt",
  case
    when :enabled then :nextRunAt
  end as "nextRunAt",
  :now as "createdAt",
  :now as "updatedAt",
  null as "idempotencyKey",
  null as "idempotencyFingerprint",
  null as "pausedReason",
  lower(hex(randomblob(8))) as "revision",
  :note as "note",
  :payload as "payload"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'agent'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
  )
  left join "schedules" "namesake" on (
    "namesake"."organizationId" = "apiKeys"."organizationId"
    and "namesake"."id" = + :scheduleId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'schedule'
    and "deletions"."resourceId" = + :scheduleId
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
    and ("agents"."id" is not null)
    and ("deletions"."resourceId" is null)
    and (
      (
        "namesake"."id" is null
        or "schedules"."id" is not null
      )
    )
    and ("agents"."archivedAt" is null)
    and (
      select
        case
          when "organizationUsage"."schedules" + ("schedules"."id" is null) > max("organizationUsage"."schedules", :quota.schedules) then 'schedules'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
    and (
      (
        "schedules"."id" is not null
        or (
          select
            count(*)
          from
            "schedules"
          where
            (
              "schedules"."organizationId" = "apiKeys"."organizationId"
              and "schedules"."parentType" = + 'agent'
              and "schedules"."parentId" = + :parentId
            )
        ) < :scheduleLimit
      )
    )
    and (
      (
        :runAt is null
        or :runAt > :now
        or :runAt is "schedules"."runAt"
      )
    )
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "schedules"."revision" is not null
      )
      or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0
    )
    and (
      :ifNoneMatch is null
      or "schedules"."revision" is null
    )
  )
on conflict ("schedules"."organizationId", "schedules"."id") do update
set
  "name" = excluded."name",
  "cron" = excluded."cron",
  "runAt" = excluded."runAt",
  "timezone" = excluded."timezone",
  "overlap" = excluded."overlap",
  "maxRunSeconds" = excluded."maxRunSeconds",
  "pauseAfterFailures" = excluded."pauseAfterFailures",
  "enabledAt" = case
    when :enabled
    and "schedules"."pausedReason" is null then coalesce("schedules"."enabledAt", :now)
  end,
  "nextRunAt" = case
    when case
      when :enabled
      and "schedules"."pausedReason" is null then coalesce("schedules"."enabledAt", :now)
    end is null then null
    when "schedules"."nextRunAt" is not null
    and "schedules"."cron" is excluded."cron"
    and "schedules"."runAt" is excluded."runAt"
    and (
      "schedules"."cron" is null
      or "schedules"."timezone" is excluded."timezone"
    ) then "schedules"."nextRunAt"
    else excluded."nextRunAt"
  end,
  "updatedAt" = excluded."updatedAt",
  "revision" = excluded."revision",
  "note" = excluded."note",
  "payload" = excluded."payload"
where
  (
    "schedules"."name" is not excluded."name"
    or "schedules"."cron" is not excluded."cron"
    or "schedules"."runAt" is not excluded."runAt"
    or "schedules"."timezone" is not excluded."timezone"
    or "schedules"."overlap" is not excluded."overlap"
    or "schedules"."maxRunSeconds" is not excluded."maxRunSeconds"
    or "schedules"."pauseAfterFailures" is not excluded."pauseAfterFailures"
    or "schedules"."note" is not excluded."note"
    or "schedules"."payload" is not excluded."payload"
    or "schedules"."enabledAt" is not case
      when :enabled
      and "schedules"."pausedReason" is null then coalesce("schedules"."enabledAt", :now)
    end
  );

-- agentSchedules.put.recording
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
    when "schedules"."id" is null then 'schedule.created'
    when not :enabled
    and "schedules"."enabledAt" is not null then 'schedule.paused'
    when "schedules"."enabledAt" is null
    and case
      when :enabled
      and "schedules"."pausedReason" is null then coalesce("schedules"."enabledAt", :now)
    end is not null then 'schedule.resumed'
    else 'schedule.updated'
  end as "type",
  :scheduleId as "resourceId",
  :parentId as "parentId",
  :name as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'agent'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
  )
  left join "schedules" "namesake" on (
    "namesake"."organizationId" = "apiKeys"."organizationId"
    and "namesake"."id" = + :scheduleId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'schedule'
    and "deletions"."resourceId" = + :scheduleId
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
      and ("agents"."id" is not null)
      and ("deletions"."resourceId" is null)
      and (
        (
          "namesake"."id" is null
          or "schedules"."id" is not null
        )
      )
      and ("agents"."archivedAt" is null)
      and (
        select
          case
            when "organizationUsage"."schedules" + ("schedules"."id" is null) > max("organizationUsage"."schedules", :quota.schedules) then 'schedules'
          end
        from
          "organizationUsage"
        where
          "organizationUsage"."organizationId" = "apiKeys"."organizationId"
      ) is null
      and (
        (
          "schedules"."id" is not null
          or (
            select
              count(*)
            from
              "schedules"
            where
              (
                "schedules"."organizationId" = "apiKeys"."organizationId"
                and "schedules"."parentType" = + 'agent'
                and "schedules"."parentId" = + :parentId
              )
          ) < :scheduleLimit
        )
      )
      and (
        (
          :runAt is null
          or :runAt > :now
          or :runAt is "schedules"."runAt"
        )
      )
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "schedules"."revision" is not null
        )
        or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0
      )
      and (
        :ifNoneMatch is null
        or "schedules"."revision" is null
      )
    )
    and (
      (
        "schedules"."id" is null
        or (
          "schedules"."name" is not :name
          or "schedules"."cron" is not :cron
          or "schedules"."runAt" is not :runAt
          or "schedules"."timezone" is not :timezone
          or "schedules"."overlap" is not :overlap
          or "schedules"."maxRunSeconds" is not :maxRunSeconds
          or "schedules"."pauseAfterFailures" is not :pauseAfterFailures
          or "schedules"."note" is not :note
          or "schedules"."payload" is not :payload
          or "schedules"."enabledAt" is not case
            when :enabled
            and "schedules"."pausedReason" is null then coalesce("schedules"."enabledAt", :now)
          end
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
    )
  );

-- agentSchedules.list
select
  "id" as "id",
  "schedules"."parentId" as "agentId",
  "cron" as "cron",
  "enabledAt" as "enabledAt",
  "lastRunAt" as "lastRunAt",
  "nextRunAt" as "nextRunAt",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "name" as "name",
  "runAt" as "runAt",
  "payload" as "payload",
  "overlap" as "overlap",
  "maxRunSeconds" as "maxRunSeconds",
  "pauseAfterFailures" as "pauseAfterFailures",
  "note" as "note",
  "pausedReason" as "pausedReason"
from
  "schedules" indexed by "schedulesByParent"
where
  (
    "schedules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "agents" on (
          "agents"."organizationId" = "apiKeys"."organizationId"
          and "agents"."id" = + :parentId
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
          and ("agents"."id" is not null)
        )
    )
    and "schedules"."parentType" = + 'agent'
    and "schedules"."parentId" = + :parentId
    and "schedules"."id" > :cursor
  )
order by
  "schedules"."id" asc
limit
  + :rowLimit;

-- agentSchedules.retrieve
select
  "schedules"."id",
  "schedules"."parentId" as "agentId",
  "schedules"."cron",
  "schedules"."enabledAt",
  "schedules"."lastRunAt",
  "schedules"."nextRunAt",
  "schedules"."createdAt",
  "schedules"."updatedAt",
  "schedules"."name",
  "schedules"."runAt",
  "schedules"."payload",
  "schedules"."overlap",
  "schedules"."maxRunSeconds",
  "schedules"."pauseAfterFailures",
  "schedules"."note",
  "schedules"."pausedReason",
  "schedules"."revision"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'agent'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
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
    and ("agents"."id" is not null)
    and ("schedules"."id" is not null)
  );

-- agentSchedules.selectStatistics
select
  "since" as "since",
  "runs" as "runs",
  "succeeded" as "succeeded",
  "failed" as "failed",
  "milliseconds" as "milliseconds"
from
  (
    select
      case count(*)
        when 2500 then min("scheduledAt")
        else :since
      end as "since",
      count(*) filter (
        where
          "status" <> 'skipped'
      ) as "runs",
      count(*) filter (
        where
          "status" = 'succeeded'
      ) as "succeeded",
      count(*) filter (
        where
          "status" = 'failed'
      ) as "failed",
      json_group_array(round(1000 * (unixepoch("finishedAt", 'subsec') - unixepoch("startedAt", 'subsec')))) filter (
        where
          "status" = 'succeeded'
          or "failure" = 'task'
      ) as "milliseconds"
    from
      (
        select
          "runs"."status",
          "runs"."failure",
          "runs"."scheduledAt",
          "runs"."startedAt",
          "runs"."finishedAt"
        from
          "runs"
        where
          "runs"."organizationId" = (
            select
              "apiKeys"."organizationId"
            from
              "apiKeys"
              left join "agents" on (
                "agents"."organizationId" = "apiKeys"."organizationId"
                and "agents"."id" = + :parentId
              )
              left join "schedules" on (
                (
                  "schedules"."organizationId" = "apiKeys"."organizationId"
                  and "schedules"."parentType" = + 'agent'
                  and "schedules"."parentId" = + :parentId
                )
                and "schedules"."id" = + :scheduleId
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
                and ("agents"."id" is not null)
                and ("schedules"."id" is not null)
              )
          )
          and "runs"."scheduleId" = + :scheduleId
          and "runs"."scheduledAt" >= :since
        order by
          "runs"."scheduledAt" desc
        limit
          2500
      )
  ) as "statistics"
where
  (
    select
      "apiKeys"."organizationId"
    from
      "apiKeys"
      left join "agents" on (
        "agents"."organizationId" = "apiKeys"."organizationId"
        and "agents"."id" = + :parentId
      )
      left join "schedules" on (
        (
          "schedules"."organizationId" = "apiKeys"."organizationId"
          and "schedules"."parentType" = + 'agent'
          and "schedules"."parentId" = + :parentId
        )
        and "schedules"."id" = + :scheduleId
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
        and ("agents"."id" is not null)
        and ("schedules"."id" is not null)
      )
  ) is not null;

-- agentSchedules.updatable.check
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
  "agents"."id" is not null as "parentExists",
  "schedules"."id" is not null as "scheduleExists",
  "agents"."archivedAt" is null as "parentIsActive",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "schedules"."revision" is not null
  )
  or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0 as "matchesRevision",
  "schedules"."revision" = coalesce(:seenRevision, "schedules"."revision") as "isUnchanged",
  (
    case
      when json_type(:changes, '$.overlap') is null then "schedules"."overlap"
      else :changes ->> '$.overlap'
    end <> 'skip'
    or case
      when json_type(:changes, '$.maxRunSeconds') is null then "schedules"."maxRunSeconds"
      else :changes ->> '$.maxRunSeconds'
    end is not null
  ) as "hasTimeLimit",
  (
    :runAt is null
    or :runAt > :now
    or :runAt is "schedules"."runAt"
  ) as "runAtIsAhead",
  case
    when not (
      (
        "schedules"."name" is not case
          when json_type(:changes, '$.name') is null then "schedules"."name"
          else :changes ->> '$.name'
        end
        or "schedules"."cron" is not case
          when json_type(:changes, '$.cron') is null then "schedules"."cron"
          else :changes ->> '$.cron'
        end
        or "schedules"."runAt" is not case
          when json_type(:changes, '$.runAt') is null then "schedules"."runAt"
          else :changes ->> '$.runAt'
        end
        or "schedules"."timezone" is not case
          when json_type(:changes, '$.timezone') is null then "schedules"."timezone"
          else :changes ->> '$.timezone'
        end
        or "schedules"."overlap" is not case
          when json_type(:changes, '$.overlap') is null then "schedules"."overlap"
          else :changes ->> '$.overlap'
        end
        or "schedules"."maxRunSeconds" is not case
          when json_type(:changes, '$.maxRunSeconds') is null then "schedules"."maxRunSeconds"
          else :changes ->> '$.maxRunSeconds'
        end
        or "schedules"."pauseAfterFailures" is not case
          when json_type(:changes, '$.pauseAfterFailures') is null then "schedules"."pauseAfterFailures"
          else :changes ->> '$.pauseAfterFailures'
        end
        or "schedules"."note" is not case
          when json_type(:changes, '$.note') is null then "schedules"."note"
          else :changes ->> '$.note'
        end
        or "schedules"."payload" is not case
          when json_type(:changes, '$.payload') is null then "schedules"."payload"
          else :changes ->> '$.payload'
        end
        or "schedules"."enabledAt" is not case
          when :enabled is null then "schedules"."enabledAt"
          when :enabled then coalesce("schedules"."enabledAt", :now)
        end
        or "schedules"."pausedReason" is not case
          when :enabled then null
          else "schedules"."pausedReason"
        end
      )
      or (
        case
          when :enabled is null then "schedules"."enabledAt"
          when :enabled then coalesce("schedules"."enabledAt", :now)
        end is not null
        and "schedules"."nextRunAt" is null
        and :nextRunAt is not null
      )
    ) then json_object(
      'id',
      "schedules"."id",
      'agentId',
      "schedules"."parentId",
      'cron',
      "schedules"."cron",
      'enabledAt',
      "schedules"."enabledAt",
      'lastRunAt',
      "schedules"."lastRunAt",
      'nextRunAt',
      "schedules"."nextRunAt",
      'createdAt',
      "schedules"."createdAt",
      'updatedAt',
      "schedules"."updatedAt",
      'name',
      "schedules"."name",
      'runAt',
      "schedules"."runAt",
      'payload',
      "schedules"."payload",
      'overlap',
      "schedules"."overlap",
      'maxRunSeconds',
      "schedules"."maxRunSeconds",
      'pauseAfterFailures',
      "schedules"."pauseAfterFailures",
      'note',
      "schedules"."note",
      'pausedReason',
      "schedules"."pausedReason",
      'revision',
      "schedules"."revision"
    )
  end as "unchanged"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'agent'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- agentSchedules.update
update "schedules"
set
  "name" = case
    when json_type(:changes, '$.name') is null then "schedules"."name"
    else :changes ->> '$.name'
  end,
  "cron" = case
    when json_type(:changes, '$.cron') is null then "schedules"."cron"
    else :changes ->> '$.cron'
  end,
  "runAt" = case
    when json_type(:changes, '$.runAt') is null then "schedules"."runAt"
    else :changes ->> '$.runAt'
  end,
  "timezone" = case
    when json_type(:changes, '$.timezone') is null then "schedules"."timezone"
    else :changes ->> '$.timezone'
  end,
  "overlap" = case
    when json_type(:changes, '$.overlap') is null then "schedules"."overlap"
    else :changes ->> '$.overlap'
  end,
  "maxRunSeconds" = case
    when json_type(:changes, '$.maxRunSeconds') is null then "schedules"."maxRunSeconds"
    else :changes ->> '$.maxRunSeconds'
  end,
  "pauseAfterFailures" = case
    when json_type(:changes, '$.pauseAfterFailures') is null then "schedules"."pauseAfterFailures"
    else :changes ->> '$.pauseAfterFailures'
  end,
  "enabledAt" = case
    when :enabled is null then "schedules"."enabledAt"
    when :enabled then coalesce("schedules"."enabledAt", :now)
  end,
  "nextRunAt" = case
    when case
      when :enabled is null then "schedules"."enabledAt"
      when :enabled then coalesce("schedules"."enabledAt", :now)
    end is null then null
    when "schedules"."nextRunAt" is not null
    and "schedules"."cron" is case
      when json_type(:changes, '$.cron') is null then "schedules"."cron"
      else :changes ->> '$.cron'
    end
    and "schedules"."runAt" is case
      when json_type(:changes, '$.runAt') is null then "schedules"."runAt"
      else :changes ->> '$.runAt'
    end
    and (
      "schedules"."cron" is null
      or "schedules"."timezone" is case
        when json_type(:changes, '$.timezone') is null then "schedules"."timezone"
        else :changes ->> '$.timezone'
      end
    ) then "schedules"."nextRunAt"
    else :nextRunAt
  end,
  "updatedAt" = + :now,
  "pausedReason" = case
    when :enabled then null
    else "schedules"."pausedReason"
  end,
  "revision" = lower(hex(randomblob(8))),
  "note" = case
    when json_type(:changes, '$.note') is null then "schedules"."note"
    else :changes ->> '$.note'
  end,
  "payload" = case
    when json_type(:changes, '$.payload') is null then "schedules"."payload"
    else :changes ->> '$.payload'
  end
where
  (
    "schedules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "agents" on (
          "agents"."organizationId" = "apiKeys"."organizationId"
          and "agents"."id" = + :parentId
        )
        left join "schedules" on (
          (
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = + 'agent'
            and "schedules"."parentId" = + :parentId
          )
          and "schedules"."id" = + :scheduleId
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
            and ("agents"."id" is not null)
            and ("schedules"."id" is not null)
            and ("agents"."archivedAt" is null)
            and (
              :ifMatch is null
              or (
                :ifMatch = '*'
                and "schedules"."revision" is not null
              )
              or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0
            )
            and ("schedules"."revision" = coalesce(:seenRevision, "schedules"."revision"))
            and (
              (
                case
                  when json_type(:changes, '$.overlap') is null then "schedules"."overlap"
                  else :changes ->> '$.overlap'
                end <> 'skip'
                or case
                  when json_type(:changes, '$.maxRunSeconds') is null then "schedules"."maxRunSeconds"
                  else :changes ->> '$.maxRunSeconds'
                end is not null
              )
            )
            and (
              (
                :runAt is null
                or :runAt > :now
                or :runAt is "schedules"."runAt"
              )
            )
          )
          and (
            (
              "schedules"."name" is not case
                when json_type(:changes, '$.name') is null then "schedules"."name"
                else :changes ->> '$.name'
              end
              or "schedules"."cron" is not case
                when json_type(:changes, '$.cron') is null then "schedules"."cron"
                else :changes ->> '$.cron'
              end
              or "schedules"."runAt" is not case
                when json_type(:changes, '$.runAt') is null then "schedules"."runAt"
                else :changes ->> '$.runAt'
              end
              or "schedules"."timezone" is not case
                when json_type(:changes, '$.timezone') is null then "schedules"."timezone"
                else :changes ->> '$.timezone'
              end
              or "schedules"."overlap" is not case
                when json_type(:changes, '$.overlap') is null then "schedules"."overlap"
                else :changes ->> '$.overlap'
              end
              or "schedules"."maxRunSeconds" is not case
                when json_type(:changes, '$.maxRunSeconds') is null then "schedules"."maxRunSeconds"
                else :changes ->> '$.maxRunSeconds'
              end
              or "schedules"."pauseAfterFailures" is not case
                when json_type(:changes, '$.pauseAfterFailures') is null then "schedules"."pauseAfterFailures"
                else :changes ->> '$.pauseAfterFailures'
              end
              or "schedules"."note" is not case
                when json_type(:changes, '$.note') is null then "schedules"."note"
                else :changes ->> '$.note'
              end
              or "schedules"."payload" is not case
                when json_type(:changes, '$.payload') is null then "schedules"."payload"
                else :changes ->> '$.payload'
              end
              or "schedules"."enabledAt" is not case
                when :enabled is null then "schedules"."enabledAt"
                when :enabled then coalesce("schedules"."enabledAt", :now)
              end
              or "schedules"."pausedReason" is not case
                when :enabled then null
                else "schedules"."pausedReason"
              end
            )
            or (
              case
                when :enabled is null then "schedules"."enabledAt"
                when :enabled then coalesce("schedules"."enabledAt", :now)
              end is not null
              and "schedules"."nextRunAt" is null
              and :nextRunAt is not null
            )
          )
        )
    )
    and (
      "schedules"."parentType" = + 'agent'
      and "schedules"."parentId" = + :parentId
      and "schedules"."id" = + :scheduleId
    )
  )
returning
  "id",
  "parentId" as "agentId",
  "cron",
  "enabledAt",
  "lastRunAt",
  "nextRunAt",
  "createdAt",
  "updatedAt",
  "name",
  "runAt",
  "payload",
  "overlap",
  "maxRunSeconds",
  "pauseAfterFailures",
  "note",
  "pausedReason",
  "revision";

-- agentSchedules.update.recording
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
    when not :enabled
    and "schedules"."enabledAt" is not null then 'schedule.paused'
    when :enabled
    and "schedules"."enabledAt" is null then 'schedule.resumed'
    else 'schedule.updated'
  end as "type",
  "schedules"."id" as "resourceId",
  :parentId as "parentId",
  case
    when json_type(:changes, '$.name') is null then "schedules"."name"
    else :changes ->> '$.name'
  end as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'agent'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
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
      and ("agents"."id" is not null)
      and ("schedules"."id" is not null)
      and ("agents"."archivedAt" is null)
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "schedules"."revision" is not null
        )
        or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0
      )
      and ("schedules"."revision" = coalesce(:seenRevision, "schedules"."revision"))
      and (
        (
          case
            when json_type(:changes, '$.overlap') is null then "schedules"."overlap"
            else :changes ->> '$.overlap'
          end <> 'skip'
          or case
            when json_type(:changes, '$.maxRunSeconds') is null then "schedules"."maxRunSeconds"
            else :changes ->> '$.maxRunSeconds'
          end is not null
        )
      )
      and (
        (
          :runAt is null
          or :runAt > :now
          or :runAt is "schedules"."runAt"
        )
      )
    )
    and (
      (
        (
          "schedules"."name" is not case
            when json_type(:changes, '$.name') is null then "schedules"."name"
            else :changes ->> '$.name'
          end
          or "schedules"."cron" is not case
            when json_type(:changes, '$.cron') is null then "schedules"."cron"
            else :changes ->> '$.cron'
          end
          or "schedules"."runAt" is not case
            when json_type(:changes, '$.runAt') is null then "schedules"."runAt"
            else :changes ->> '$.runAt'
          end
          or "schedules"."timezone" is not case
            when json_type(:changes, '$.timezone') is null then "schedules"."timezone"
            else :changes ->> '$.timezone'
          end
          or "schedules"."overlap" is not case
            when json_type(:changes, '$.overlap') is null then "schedules"."overlap"
            else :changes ->> '$.overlap'
          end
          or "schedules"."maxRunSeconds" is not case
            when json_type(:changes, '$.maxRunSeconds') is null then "schedules"."maxRunSeconds"
            else :changes ->> '$.maxRunSeconds'
          end
          or "schedules"."pauseAfterFailures" is not case
            when json_type(:changes, '$.pauseAfterFailures') is null then "schedules"."pauseAfterFailures"
            else :changes ->> '$.pauseAfterFailures'
          end
          or "schedules"."note" is not case
            when json_type(:changes, '$.note') is null then "schedules"."note"
            else :changes ->> '$.note'
          end
          or "schedules"."payload" is not case
            when json_type(:changes, '$.payload') is null then "schedules"."payload"
            else :changes ->> '$.payload'
          end
          or "schedules"."enabledAt" is not case
            when :enabled is null then "schedules"."enabledAt"
            when :enabled then coalesce("schedules"."enabledAt", :now)
          end
          or "schedules"."pausedReason" is not case
            when :enabled then null
            else "schedules"."pausedReason"
          end
        )
        or (
          case
            when :enabled is null then "schedules"."enabledAt"
            when :enabled then coalesce("schedules"."enabledAt", :now)
          end is not null
          and "schedules"."nextRunAt" is null
          and :nextRunAt is not null
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
    )
  );

-- agentSchedules.copyDeleted
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
  "schedules"."organizationId" as "organizationId",
  'schedule' as "resourceType",
  "schedules"."id" as "resourceId",
  null as "projectId",
  "schedules"."parentId" as "agentId",
  :now as "deletedAt",
  :finalAt as "finalAt",
  null as "purgedAt",
  case
    when :finalAt > :now then :deletionId
  end as "id",
  case
    when :finalAt > :now then json_patch(
      json_object(
        'organizationId',
        "schedules"."organizationId",
        'id',
        "schedules"."id",
        'parentType',
        "schedules"."parentType",
        'parentId',
        "schedules"."parentId",
        'name',
        "schedules"."name",
        'cron',
        "schedules"."cron",
        'runAt',
        "schedules"."runAt",
        'timezone',
        "schedules"."timezone",
        'overlap',
        "schedules"."overlap",
        'maxRunSeconds',
        "schedules"."maxRunSeconds",
        'pauseAfterFailures',
        "schedules"."pauseAfterFailures",
        'enabledAt',
        "schedules"."enabledAt",
        'lastRunAt',
        "schedules"."lastRunAt",
        'nextRunAt',
        "schedules"."nextRunAt",
        'createdAt',
        "schedules"."createdAt",
        'updatedAt',
        "schedules"."updatedAt"
      ),
      json_object(
        'idempotencyKey',
        "schedules"."idempotencyKey",
        'idempotencyFingerprint',
        "schedules"."idempotencyFingerprint",
        'pausedReason',
        "schedules"."pausedReason",
        'revision',
        "schedules"."revision",
        'note',
        "schedules"."note",
        'payload',
        "schedules"."payload"
      )
    )
  end as "row"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'agent'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
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
    and ("agents"."id" is not null)
    and ("schedules"."id" is not null)
    and ("agents"."archivedAt" is null)
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "schedules"."revision" is not null
      )
      or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0
    )
  );

-- agentSchedules.remove
delete from "schedules"
where
  (
    "schedules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "agents" on (
          "agents"."organizationId" = "apiKeys"."organizationId"
          and "agents"."id" = + :parentId
        )
        left join "schedules" on (
          (
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = + 'agent'
            and "schedules"."parentId" = + :parentId
          )
          and "schedules"."id" = + :scheduleId
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
          and ("agents"."id" is not null)
          and ("schedules"."id" is not null)
          and ("agents"."archivedAt" is null)
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "schedules"."revision" is not null
            )
            or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0
          )
        )
    )
    and (
      "schedules"."parentType" = + 'agent'
      and "schedules"."parentId" = + :parentId
      and "schedules"."id" = + :scheduleId
    )
  )
returning
  "id";

-- agentSchedules.remove.recording
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
  'schedule.deleted' as "type",
  "schedules"."id" as "resourceId",
  :parentId as "parentId",
  "schedules"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'agent'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
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
      and ("agents"."id" is not null)
      and ("schedules"."id" is not null)
      and ("agents"."archivedAt" is null)
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "schedules"."revision" is not null
        )
        or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0
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

-- organizationListable.check
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

-- projectSchedules.insert
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
  "apiKeys"."organizationId" as "organizationId",
  :id as "id",
  'project' as "parentType",
  :parentId as "parentId",
  null as "name",
  :cron as "cron",
  null as "runAt",
  :timezone as "timezone",
  'allow' as "overlap",
  null as "maxRunSeconds",
  null as "pauseAfterFailures",
  :now as "enabledAt",
  null as "lastRunAt",
  :nextRunAt as "nextRunAt",
  :now as "createdAt",
  :now as "updatedAt",
  :idempotencyKey as "idempotencyKey",
  :idempotencyFingerprint as "idempotencyFingerprint",
  null as "pausedReason",
  lower(hex(randomblob(8))) as "revision",
  null as "note",
  null as "payload"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :parentId
  )
  left join "schedules" "earlier" on (
    (
      "earlier"."organizationId" = "apiKeys"."organizationId"
      and "earlier"."parentType" = + 'project'
      and "earlier"."parentId" = + :parentId
    )
    and "earlier"."idempotencyKey" = + :idempotencyKey
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
    and ("projects"."id" is not null)
    and (
      (
        "apiKeys"."projectIds" is null
        or "projects"."id" in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and ("earlier"."id" is null)
    and ("projects"."archivedAt" is null)
    and (
      select
        case
          when "organizationUsage"."schedules" + (1) > max("organizationUsage"."schedules", :quota.schedules) then 'schedules'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
    and (
      (
        select
          count(*)
        from
          "schedules"
        where
          (
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = + 'project'
            and "schedules"."parentId" = + :parentId
          )
      ) < :scheduleLimit
    )
  );

-- projectSchedules.insert.recording
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
  'schedule.created' as "type",
  :id as "resourceId",
  null as "parentId",
  null as "resourceName",
  :parentId as "projectId",
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

-- projectSchedules.selectCreated
select
  "schedules"."id",
  "schedules"."parentId" as "projectId",
  "schedules"."cron" as "cron",
  "schedules"."timezone",
  "schedules"."enabledAt",
  "schedules"."lastRunAt",
  "schedules"."nextRunAt",
  "schedules"."createdAt",
  "schedules"."updatedAt",
  "schedules"."revision"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :parentId
  )
  inner join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'project'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = coalesce(
      (
        select
          "id"
        from
          "schedules" "earlier"
        where
          (
            (
              "earlier"."organizationId" = "apiKeys"."organizationId"
              and "earlier"."parentType" = + 'project'
              and "earlier"."parentId" = + :parentId
            )
            and "earlier"."idempotencyKey" = + :idempotencyKey
          )
      ),
      :id
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
      and ("projects"."id" is not null)
      and (
        (
          "apiKeys"."projectIds" is null
          or "projects"."id" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
    )
    and (
      "schedules"."idempotencyKey" is null
      or (
        "schedules"."idempotencyFingerprint" = + :idempotencyFingerprint
        and "schedules"."cron" is not null
      )
    )
  );

-- projectSchedules.put
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
  "apiKeys"."organizationId" as "organizationId",
  :scheduleId as "id",
  'project' as "parentType",
  :parentId as "parentId",
  :name as "name",
  :cron as "cron",
  :runAt as "runAt",
  :timezone as "timezone",
  :overlap as "overlap",
  :maxRunSeconds as "maxRunSeconds",
  :pauseAfterFailures as "pauseAfterFailures",
  case
    when :enabled then :now
  end as "enabledAt",
  null as "lastRunAt",
  case
    when :enabled then :nextRunAt
  end as "nextRunAt",
  :now as "createdAt",
  :now as "updatedAt",
  null as "idempotencyKey",
  null as "idempotencyFingerprint",
  null as "pausedReason",
  lower(hex(randomblob(8))) as "revision",
  :note as "note",
  :payload as "payload"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'project'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
  )
  left join "schedules" "namesake" on (
    "namesake"."organizationId" = "apiKeys"."organizationId"
    and "namesake"."id" = + :scheduleId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'schedule'
    and "deletions"."resourceId" = + :scheduleId
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
    and ("projects"."id" is not null)
    and (
      (
        "apiKeys"."projectIds" is null
        or "projects"."id" in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and ("deletions"."resourceId" is null)
    and (
      (
        "namesake"."id" is null
        or "schedules"."id" is not null
      )
    )
    and ("projects"."archivedAt" is null)
    and (
      select
        case
          when "organizationUsage"."schedules" + ("schedules"."id" is null) > max("organizationUsage"."schedules", :quota.schedules) then 'schedules'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
    and (
      (
        "schedules"."id" is not null
        or (
          select
            count(*)
          from
            "schedules"
          where
            (
              "schedules"."organizationId" = "apiKeys"."organizationId"
              and "schedules"."parentType" = + 'project'
              and "schedules"."parentId" = + :parentId
            )
        ) < :scheduleLimit
      )
    )
    and (
      (
        :runAt is null
        or :runAt > :now
        or :runAt is "schedules"."runAt"
      )
    )
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "schedules"."revision" is not null
      )
      or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0
    )
    and (
      :ifNoneMatch is null
      or "schedules"."revision" is null
    )
  )
on conflict ("schedules"."organizationId", "schedules"."id") do update
set
  "name" = excluded."name",
  "cron" = excluded."cron",
  "runAt" = excluded."runAt",
  "timezone" = excluded."timezone",
  "overlap" = excluded."overlap",
  "maxRunSeconds" = excluded."maxRunSeconds",
  "pauseAfterFailures" = excluded."pauseAfterFailures",
  "enabledAt" = case
    when :enabled
    and "schedules"."pausedReason" is null then coalesce("schedules"."enabledAt", :now)
  end,
  "nextRunAt" = case
    when case
      when :enabled
      and "schedules"."pausedReason" is null then coalesce("schedules"."enabledAt", :now)
    end is null then null
    when "schedules"."nextRunAt" is not null
    and "schedules"."cron" is excluded."cron"
    and "schedules"."runAt" is excluded."runAt"
    and (
      "schedules"."cron" is null
      or "schedules"."timezone" is excluded."timezone"
    ) then "schedules"."nextRunAt"
    else excluded."nextRunAt"
  end,
  "updatedAt" = excluded."updatedAt",
  "revision" = excluded."revision",
  "note" = excluded."note",
  "payload" = excluded."payload"
where
  (
    "schedules"."name" is not excluded."name"
    or "schedules"."cron" is not excluded."cron"
    or "schedules"."runAt" is not excluded."runAt"
    or "schedules"."timezone" is not excluded."timezone"
    or "schedules"."overlap" is not excluded."overlap"
    or "schedules"."maxRunSeconds" is not excluded."maxRunSeconds"
    or "schedules"."pauseAfterFailures" is not excluded."pauseAfterFailures"
    or "schedules"."note" is not excluded."note"
    or "schedules"."payload" is not excluded."payload"
    or "schedules"."enabledAt" is not case
      when :enabled
      and "schedules"."pausedReason" is null then coalesce("schedules"."enabledAt", :now)
    end
  );

-- projectSchedules.put.recording
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
    when "schedules"."id" is null then 'schedule.created'
    when not :enabled
    and "schedules"."enabledAt" is not null then 'schedule.paused'
    when "schedules"."enabledAt" is null
    and case
      when :enabled
      and "schedules"."pausedReason" is null then coalesce("schedules"."enabledAt", :now)
    end is not null then 'schedule.resumed'
    else 'schedule.updated'
  end as "type",
  :scheduleId as "resourceId",
  null as "parentId",
  :name as "resourceName",
  :parentId as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'project'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
  )
  left join "schedules" "namesake" on (
    "namesake"."organizationId" = "apiKeys"."organizationId"
    and "namesake"."id" = + :scheduleId
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'schedule'
    and "deletions"."resourceId" = + :scheduleId
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
      and ("projects"."id" is not null)
      and (
        (
          "apiKeys"."projectIds" is null
          or "projects"."id" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and ("deletions"."resourceId" is null)
      and (
        (
          "namesake"."id" is null
          or "schedules"."id" is not null
        )
      )
      and ("projects"."archivedAt" is null)
      and (
        select
          case
            when "organizationUsage"."schedules" + ("schedules"."id" is null) > max("organizationUsage"."schedules", :quota.schedules) then 'schedules'
          end
        from
          "organizationUsage"
        where
          "organizationUsage"."organizationId" = "apiKeys"."organizationId"
      ) is null
      and (
        (
          "schedules"."id" is not null
          or (
            select
              count(*)
            from
              "schedules"
            where
              (
                "schedules"."organizationId" = "apiKeys"."organizationId"
                and "schedules"."parentType" = + 'project'
                and "schedules"."parentId" = + :parentId
              )
          ) < :scheduleLimit
        )
      )
      and (
        (
          :runAt is null
          or :runAt > :now
          or :runAt is "schedules"."runAt"
        )
      )
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "schedules"."revision" is not null
        )
        or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0
      )
      and (
        :ifNoneMatch is null
        or "schedules"."revision" is null
      )
    )
    and (
      (
        "schedules"."id" is null
        or (
          "schedules"."name" is not :name
          or "schedules"."cron" is not :cron
          or "schedules"."runAt" is not :runAt
          or "schedules"."timezone" is not :timezone
          or "schedules"."overlap" is not :overlap
          or "schedules"."maxRunSeconds" is not :maxRunSeconds
          or "schedules"."pauseAfterFailures" is not :pauseAfterFailures
          or "schedules"."note" is not :note
          or "schedules"."payload" is not :payload
          or "schedules"."enabledAt" is not case
            when :enabled
            and "schedules"."pausedReason" is null then coalesce("schedules"."enabledAt", :now)
          end
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
    )
  );

-- projectSchedules.list
select
  "id" as "id",
  "schedules"."parentId" as "projectId",
  "cron" as "cron",
  "timezone" as "timezone",
  "enabledAt" as "enabledAt",
  "lastRunAt" as "lastRunAt",
  "nextRunAt" as "nextRunAt",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "name" as "name",
  "runAt" as "runAt",
  "payload" as "payload",
  "overlap" as "overlap",
  "maxRunSeconds" as "maxRunSeconds",
  "pauseAfterFailures" as "pauseAfterFailures",
  "note" as "note",
  "pausedReason" as "pausedReason"
from
  "schedules" indexed by "schedulesByParent"
where
  (
    "schedules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "projects" on (
          "projects"."organizationId" = "apiKeys"."organizationId"
          and "projects"."id" = + :parentId
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
          and ("projects"."id" is not null)
          and (
            (
              "apiKeys"."projectIds" is null
              or "projects"."id" in (
                select
                  value
                from
                  json_each("apiKeys"."projectIds")
              )
            )
          )
        )
    )
    and "schedules"."parentType" = + 'project'
    and "schedules"."parentId" = + :parentId
    and "schedules"."id" > :cursor
  )
order by
  "schedules"."id" asc
limit
  + :rowLimit;

-- projectSchedules.retrieve
select
  "schedules"."id",
  "schedules"."parentId" as "projectId",
  "schedules"."cron",
  "schedules"."timezone",
  "schedules"."enabledAt",
  "schedules"."lastRunAt",
  "schedules"."nextRunAt",
  "schedules"."createdAt",
  "schedules"."updatedAt",
  "schedules"."name",
  "schedules"."runAt",
  "schedules"."payload",
  "schedules"."overlap",
  "schedules"."maxRunSeconds",
  "schedules"."pauseAfterFailures",
  "schedules"."note",
  "schedules"."pausedReason",
  "schedules"."revision"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'project'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
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
    and ("projects"."id" is not null)
    and (
      (
        "apiKeys"."projectIds" is null
        or "projects"."id" in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and ("schedules"."id" is not null)
  );

-- projectSchedules.selectStatistics
select
  "since" as "since",
  "runs" as "runs",
  "succeeded" as "succeeded",
  "failed" as "failed",
  "milliseconds" as "milliseconds"
from
  (
    select
      case count(*)
        when 2500 then min("scheduledAt")
        else :since
      end as "since",
      count(*) filter (
        where
          "status" <> 'skipped'
      ) as "runs",
      count(*) filter (
        where
          "status" = 'succeeded'
      ) as "succeeded",
      count(*) filter (
        where
          "status" = 'failed'
      ) as "failed",
      json_group_array(round(1000 * (unixepoch("finishedAt", 'subsec') - unixepoch("startedAt", 'subsec')))) filter (
        where
          "status" = 'succeeded'
          or "failure" = 'task'
      ) as "milliseconds"
    from
      (
        select
          "runs"."status",
          "runs"."failure",
          "runs"."scheduledAt",
          "runs"."startedAt",
          "runs"."finishedAt"
        from
          "runs"
        where
          "runs"."organizationId" = (
            select
              "apiKeys"."organizationId"
            from
              "apiKeys"
              left join "projects" on (
                "projects"."organizationId" = "apiKeys"."organizationId"
                and "projects"."id" = + :parentId
              )
              left join "schedules" on (
                (
                  "schedules"."organizationId" = "apiKeys"."organizationId"
                  and "schedules"."parentType" = + 'project'
                  and "schedules"."parentId" = + :parentId
                )
                and "schedules"."id" = + :scheduleId
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
                and ("projects"."id" is not null)
                and (
                  (
                    "apiKeys"."projectIds" is null
                    or "projects"."id" in (
                      select
                        value
                      from
                        json_each("apiKeys"."projectIds")
                    )
                  )
                )
                and ("schedules"."id" is not null)
              )
          )
          and "runs"."scheduleId" = + :scheduleId
          and "runs"."scheduledAt" >= :since
        order by
          "runs"."scheduledAt" desc
        limit
          2500
      )
  ) as "statistics"
where
  (
    select
      "apiKeys"."organizationId"
    from
      "apiKeys"
      left join "projects" on (
        "projects"."organizationId" = "apiKeys"."organizationId"
        and "projects"."id" = + :parentId
      )
      left join "schedules" on (
        (
          "schedules"."organizationId" = "apiKeys"."organizationId"
          and "schedules"."parentType" = + 'project'
          and "schedules"."parentId" = + :parentId
        )
        and "schedules"."id" = + :scheduleId
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
        and ("projects"."id" is not null)
        and (
          (
            "apiKeys"."projectIds" is null
            or "projects"."id" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
        and ("schedules"."id" is not null)
      )
  ) is not null;

-- projectSchedules.updatable.check
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
  "projects"."id" is not null as "parentExists",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "projectIsAccessible",
  "schedules"."id" is not null as "scheduleExists",
  "projects"."archivedAt" is null as "parentIsActive",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "schedules"."revision" is not null
  )
  or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0 as "matchesRevision",
  "schedules"."revision" = coalesce(:seenRevision, "schedules"."revision") as "isUnchanged",
  (
    case
      when json_type(:changes, '$.overlap') is null then "schedules"."overlap"
      else :changes ->> '$.overlap'
    end <> 'skip'
    or case
      when json_type(:changes, '$.maxRunSeconds') is null then "schedules"."maxRunSeconds"
      else :changes ->> '$.maxRunSeconds'
    end is not null
  ) as "hasTimeLimit",
  (
    :runAt is null
    or :runAt > :now
    or :runAt is "schedules"."runAt"
  ) as "runAtIsAhead",
  case
    when not (
      (
        "schedules"."name" is not case
          when json_type(:changes, '$.name') is null then "schedules"."name"
          else :changes ->> '$.name'
        end
        or "schedules"."cron" is not case
          when json_type(:changes, '$.cron') is null then "schedules"."cron"
          else :changes ->> '$.cron'
        end
        or "schedules"."runAt" is not case
          when json_type(:changes, '$.runAt') is null then "schedules"."runAt"
          else :changes ->> '$.runAt'
        end
        or "schedules"."timezone" is not case
          when json_type(:changes, '$.timezone') is null then "schedules"."timezone"
          else :changes ->> '$.timezone'
        end
        or "schedules"."overlap" is not case
          when json_type(:changes, '$.overlap') is null then "schedules"."overlap"
          else :changes ->> '$.overlap'
        end
        or "schedules"."maxRunSeconds" is not case
          when json_type(:changes, '$.maxRunSeconds') is null then "schedules"."maxRunSeconds"
          else :changes ->> '$.maxRunSeconds'
        end
        or "schedules"."pauseAfterFailures" is not case
          when json_type(:changes, '$.pauseAfterFailures') is null then "schedules"."pauseAfterFailures"
          else :changes ->> '$.pauseAfterFailures'
        end
        or "schedules"."note" is not case
          when json_type(:changes, '$.note') is null then "schedules"."note"
          else :changes ->> '$.note'
        end
        or "schedules"."payload" is not case
          when json_type(:changes, '$.payload') is null then "schedules"."payload"
          else :changes ->> '$.payload'
        end
        or "schedules"."enabledAt" is not case
          when :enabled is null then "schedules"."enabledAt"
          when :enabled then coalesce("schedules"."enabledAt", :now)
        end
        or "schedules"."pausedReason" is not case
          when :enabled then null
          else "schedules"."pausedReason"
        end
      )
      or (
        case
          when :enabled is null then "schedules"."enabledAt"
          when :enabled then coalesce("schedules"."enabledAt", :now)
        end is not null
        and "schedules"."nextRunAt" is null
        and :nextRunAt is not null
      )
    ) then json_object(
      'id',
      "schedules"."id",
      'projectId',
      "schedules"."parentId",
      'cron',
      "schedules"."cron",
      'timezone',
      "schedules"."timezone",
      'enabledAt',
      "schedules"."enabledAt",
      'lastRunAt',
      "schedules"."lastRunAt",
      'nextRunAt',
      "schedules"."nextRunAt",
      'createdAt',
      "schedules"."createdAt",
      'updatedAt',
      "schedules"."updatedAt",
      'name',
      "schedules"."name",
      'runAt',
      "schedules"."runAt",
      'payload',
      "schedules"."payload",
      'overlap',
      "schedules"."overlap",
      'maxRunSeconds',
      "schedules"."maxRunSeconds",
      'pauseAfterFailures',
      "schedules"."pauseAfterFailures",
      'note',
      "schedules"."note",
      'pausedReason',
      "schedules"."pausedReason",
      'revision',
      "schedules"."revision"
    )
  end as "unchanged"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'project'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- projectSchedules.update
update "schedules"
set
  "name" = case
    when json_type(:changes, '$.name') is null then "schedules"."name"
    else :changes ->> '$.name'
  end,
  "cron" = case
    when json_type(:changes, '$.cron') is null then "schedules"."cron"
    else :changes ->> '$.cron'
  end,
  "runAt" = case
    when json_type(:changes, '$.runAt') is null then "schedules"."runAt"
    else :changes ->> '$.runAt'
  end,
  "timezone" = case
    when json_type(:changes, '$.timezone') is null then "schedules"."timezone"
    else :changes ->> '$.timezone'
  end,
  "overlap" = case
    when json_type(:changes, '$.overlap') is null then "schedules"."overlap"
    else :changes ->> '$.overlap'
  end,
  "maxRunSeconds" = case
    when json_type(:changes, '$.maxRunSeconds') is null then "schedules"."maxRunSeconds"
    else :changes ->> '$.maxRunSeconds'
  end,
  "pauseAfterFailures" = case
    when json_type(:changes, '$.pauseAfterFailures') is null then "schedules"."pauseAfterFailures"
    else :changes ->> '$.pauseAfterFailures'
  end,
  "enabledAt" = case
    when :enabled is null then "schedules"."enabledAt"
    when :enabled then coalesce("schedules"."enabledAt", :now)
  end,
  "nextRunAt" = case
    when case
      when :enabled is null then "schedules"."enabledAt"
      when :enabled then coalesce("schedules"."enabledAt", :now)
    end is null then null
    when "schedules"."nextRunAt" is not null
    and "schedules"."cron" is case
      when json_type(:changes, '$.cron') is null then "schedules"."cron"
      else :changes ->> '$.cron'
    end
    and "schedules"."runAt" is case
      when json_type(:changes, '$.runAt') is null then "schedules"."runAt"
      else :changes ->> '$.runAt'
    end
    and (
      "schedules"."cron" is null
      or "schedules"."timezone" is case
        when json_type(:changes, '$.timezone') is null then "schedules"."timezone"
        else :changes ->> '$.timezone'
      end
    ) then "schedules"."nextRunAt"
    else :nextRunAt
  end,
  "updatedAt" = + :now,
  "pausedReason" = case
    when :enabled then null
    else "schedules"."pausedReason"
  end,
  "revision" = lower(hex(randomblob(8))),
  "note" = case
    when json_type(:changes, '$.note') is null then "schedules"."note"
    else :changes ->> '$.note'
  end,
  "payload" = case
    when json_type(:changes, '$.payload') is null then "schedules"."payload"
    else :changes ->> '$.payload'
  end
where
  (
    "schedules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "projects" on (
          "projects"."organizationId" = "apiKeys"."organizationId"
          and "projects"."id" = + :parentId
        )
        left join "schedules" on (
          (
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = + 'project'
            and "schedules"."parentId" = + :parentId
          )
          and "schedules"."id" = + :scheduleId
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
            and ("projects"."id" is not null)
            and (
              (
                "apiKeys"."projectIds" is null
                or "projects"."id" in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
            )
            and ("schedules"."id" is not null)
            and ("projects"."archivedAt" is null)
            and (
              :ifMatch is null
              or (
                :ifMatch = '*'
                and "schedules"."revision" is not null
              )
              or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0
            )
            and ("schedules"."revision" = coalesce(:seenRevision, "schedules"."revision"))
            and (
              (
                case
                  when json_type(:changes, '$.overlap') is null then "schedules"."overlap"
                  else :changes ->> '$.overlap'
                end <> 'skip'
                or case
                  when json_type(:changes, '$.maxRunSeconds') is null then "schedules"."maxRunSeconds"
                  else :changes ->> '$.maxRunSeconds'
                end is not null
              )
            )
            and (
              (
                :runAt is null
                or :runAt > :now
                or :runAt is "schedules"."runAt"
              )
            )
          )
          and (
            (
              "schedules"."name" is not case
                when json_type(:changes, '$.name') is null then "schedules"."name"
                else :changes ->> '$.name'
              end
              or "schedules"."cron" is not case
                when json_type(:changes, '$.cron') is null then "schedules"."cron"
                else :changes ->> '$.cron'
              end
              or "schedules"."runAt" is not case
                when json_type(:changes, '$.runAt') is null then "schedules"."runAt"
                else :changes ->> '$.runAt'
              end
              or "schedules"."timezone" is not case
                when json_type(:changes, '$.timezone') is null then "schedules"."timezone"
                else :changes ->> '$.timezone'
              end
              or "schedules"."overlap" is not case
                when json_type(:changes, '$.overlap') is null then "schedules"."overlap"
                else :changes ->> '$.overlap'
              end
              or "schedules"."maxRunSeconds" is not case
                when json_type(:changes, '$.maxRunSeconds') is null then "schedules"."maxRunSeconds"
                else :changes ->> '$.maxRunSeconds'
              end
              or "schedules"."pauseAfterFailures" is not case
                when json_type(:changes, '$.pauseAfterFailures') is null then "schedules"."pauseAfterFailures"
                else :changes ->> '$.pauseAfterFailures'
              end
              or "schedules"."note" is not case
                when json_type(:changes, '$.note') is null then "schedules"."note"
                else :changes ->> '$.note'
              end
              or "schedules"."payload" is not case
                when json_type(:changes, '$.payload') is null then "schedules"."payload"
                else :changes ->> '$.payload'
              end
              or "schedules"."enabledAt" is not case
                when :enabled is null then "schedules"."enabledAt"
                when :enabled then coalesce("schedules"."enabledAt", :now)
              end
              or "schedules"."pausedReason" is not case
                when :enabled then null
                else "schedules"."pausedReason"
              end
            )
            or (
              case
                when :enabled is null then "schedules"."enabledAt"
                when :enabled then coalesce("schedules"."enabledAt", :now)
              end is not null
              and "schedules"."nextRunAt" is null
              and :nextRunAt is not null
            )
          )
        )
    )
    and (
      "schedules"."parentType" = + 'project'
      and "schedules"."parentId" = + :parentId
      and "schedules"."id" = + :scheduleId
    )
  )
returning
  "id",
  "parentId" as "projectId",
  "cron",
  "timezone",
  "enabledAt",
  "lastRunAt",
  "nextRunAt",
  "createdAt",
  "updatedAt",
  "name",
  "runAt",
  "payload",
  "overlap",
  "maxRunSeconds",
  "pauseAfterFailures",
  "note",
  "pausedReason",
  "revision";

-- projectSchedules.update.recording
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
    when not :enabled
    and "schedules"."enabledAt" is not null then 'schedule.paused'
    when :enabled
    and "schedules"."enabledAt" is null then 'schedule.resumed'
    else 'schedule.updated'
  end as "type",
  "schedules"."id" as "resourceId",
  null as "parentId",
  case
    when json_type(:changes, '$.name') is null then "schedules"."name"
    else :changes ->> '$.name'
  end as "resourceName",
  :parentId as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'project'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
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
      and ("projects"."id" is not null)
      and (
        (
          "apiKeys"."projectIds" is null
          or "projects"."id" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and ("schedules"."id" is not null)
      and ("projects"."archivedAt" is null)
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "schedules"."revision" is not null
        )
        or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0
      )
      and ("schedules"."revision" = coalesce(:seenRevision, "schedules"."revision"))
      and (
        (
          case
            when json_type(:changes, '$.overlap') is null then "schedules"."overlap"
            else :changes ->> '$.overlap'
          end <> 'skip'
          or case
            when json_type(:changes, '$.maxRunSeconds') is null then "schedules"."maxRunSeconds"
            else :changes ->> '$.maxRunSeconds'
          end is not null
        )
      )
      and (
        (
          :runAt is null
          or :runAt > :now
          or :runAt is "schedules"."runAt"
        )
      )
    )
    and (
      (
        (
          "schedules"."name" is not case
            when json_type(:changes, '$.name') is null then "schedules"."name"
            else :changes ->> '$.name'
          end
          or "schedules"."cron" is not case
            when json_type(:changes, '$.cron') is null then "schedules"."cron"
            else :changes ->> '$.cron'
          end
          or "schedules"."runAt" is not case
            when json_type(:changes, '$.runAt') is null then "schedules"."runAt"
            else :changes ->> '$.runAt'
          end
          or "schedules"."timezone" is not case
            when json_type(:changes, '$.timezone') is null then "schedules"."timezone"
            else :changes ->> '$.timezone'
          end
          or "schedules"."overlap" is not case
            when json_type(:changes, '$.overlap') is null then "schedules"."overlap"
            else :changes ->> '$.overlap'
          end
          or "schedules"."maxRunSeconds" is not case
            when json_type(:changes, '$.maxRunSeconds') is null then "schedules"."maxRunSeconds"
            else :changes ->> '$.maxRunSeconds'
          end
          or "schedules"."pauseAfterFailures" is not case
            when json_type(:changes, '$.pauseAfterFailures') is null then "schedules"."pauseAfterFailures"
            else :changes ->> '$.pauseAfterFailures'
          end
          or "schedules"."note" is not case
            when json_type(:changes, '$.note') is null then "schedules"."note"
            else :changes ->> '$.note'
          end
          or "schedules"."payload" is not case
            when json_type(:changes, '$.payload') is null then "schedules"."payload"
            else :changes ->> '$.payload'
          end
          or "schedules"."enabledAt" is not case
            when :enabled is null then "schedules"."enabledAt"
            when :enabled then coalesce("schedules"."enabledAt", :now)
          end
          or "schedules"."pausedReason" is not case
            when :enabled then null
            else "schedules"."pausedReason"
          end
        )
        or (
          case
            when :enabled is null then "schedules"."enabledAt"
            when :enabled then coalesce("schedules"."enabledAt", :now)
          end is not null
          and "schedules"."nextRunAt" is null
          and :nextRunAt is not null
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
    )
  );

-- projectSchedules.copyDeleted
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
  "schedules"."organizationId" as "organizationId",
  'schedule' as "resourceType",
  "schedules"."id" as "resourceId",
  "schedules"."parentId" as "projectId",
  null as "agentId",
  :now as "deletedAt",
  :finalAt as "finalAt",
  null as "purgedAt",
  case
    when :finalAt > :now then :deletionId
  end as "id",
  case
    when :finalAt > :now then json_patch(
      json_object(
        'organizationId',
        "schedules"."organizationId",
        'id',
        "schedules"."id",
        'parentType',
        "schedules"."parentType",
        'parentId',
        "schedules"."parentId",
        'name',
        "schedules"."name",
        'cron',
        "schedules"."cron",
        'runAt',
        "schedules"."runAt",
        'timezone',
        "schedules"."timezone",
        'overlap',
        "schedules"."overlap",
        'maxRunSeconds',
        "schedules"."maxRunSeconds",
        'pauseAfterFailures',
        "schedules"."pauseAfterFailures",
        'enabledAt',
        "schedules"."enabledAt",
        'lastRunAt',
        "schedules"."lastRunAt",
        'nextRunAt',
        "schedules"."nextRunAt",
        'createdAt',
        "schedules"."createdAt",
        'updatedAt',
        "schedules"."updatedAt"
      ),
      json_object(
        'idempotencyKey',
        "schedules"."idempotencyKey",
        'idempotencyFingerprint',
        "schedules"."idempotencyFingerprint",
        'pausedReason',
        "schedules"."pausedReason",
        'revision',
        "schedules"."revision",
        'note',
        "schedules"."note",
        'payload',
        "schedules"."payload"
      )
    )
  end as "row"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'project'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
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
    and ("projects"."id" is not null)
    and (
      (
        "apiKeys"."projectIds" is null
        or "projects"."id" in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and ("schedules"."id" is not null)
    and ("projects"."archivedAt" is null)
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "schedules"."revision" is not null
      )
      or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0
    )
  );

-- projectSchedules.remove
delete from "schedules"
where
  (
    "schedules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "projects" on (
          "projects"."organizationId" = "apiKeys"."organizationId"
          and "projects"."id" = + :parentId
        )
        left join "schedules" on (
          (
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = + 'project'
            and "schedules"."parentId" = + :parentId
          )
          and "schedules"."id" = + :scheduleId
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
          and ("projects"."id" is not null)
          and (
            (
              "apiKeys"."projectIds" is null
              or "projects"."id" in (
                select
                  value
                from
                  json_each("apiKeys"."projectIds")
              )
            )
          )
          and ("schedules"."id" is not null)
          and ("projects"."archivedAt" is null)
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "schedules"."revision" is not null
            )
            or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0
          )
        )
    )
    and (
      "schedules"."parentType" = + 'project'
      and "schedules"."parentId" = + :parentId
      and "schedules"."id" = + :scheduleId
    )
  )
returning
  "id";

-- projectSchedules.remove.recording
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
  'schedule.deleted' as "type",
  "schedules"."id" as "resourceId",
  null as "parentId",
  "schedules"."name" as "resourceName",
  :parentId as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :parentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = + 'project'
      and "schedules"."parentId" = + :parentId
    )
    and "schedules"."id" = + :scheduleId
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
      and ("projects"."id" is not null)
      and (
        (
          "apiKeys"."projectIds" is null
          or "projects"."id" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and ("schedules"."id" is not null)
      and ("projects"."archivedAt" is null)
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "schedules"."revision" is not null
        )
        or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0
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

-- selectSchedules
select
  "id" as "id",
  "projectId" as "projectId",
  "agentId" as "agentId",
  "name" as "name",
  "cron" as "cron",
  "runAt" as "runAt",
  "timezone" as "timezone",
  "enabledAt" as "enabledAt",
  "pausedReason" as "pausedReason",
  "nextRunAt" as "nextRunAt",
  "lastRunAt" as "lastRunAt",
  "lastOutcomes" as "lastOutcomes",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "schedules"."id" as "id",
      case "schedules"."parentType"
        when 'project' then "schedules"."parentId"
      end as "projectId",
      case "schedules"."parentType"
        when 'agent' then "schedules"."parentId"
      end as "agentId",
      "schedules"."name" as "name",
      "schedules"."cron" as "cron",
      "schedules"."runAt" as "runAt",
      "schedules"."timezone" as "timezone",
      "schedules"."enabledAt" as "enabledAt",
      "schedules"."pausedReason" as "pausedReason",
      "schedules"."nextRunAt" as "nextRunAt",
      "schedules"."lastRunAt" as "lastRunAt",
      (
        select
          json_group_array("status") filter (
            where
              "status" in ('succeeded', 'failed')
          )
        from
          (
            select
              "runs"."status" as "status"
            from
              "runs"
            where
              "runs"."organizationId" = "schedules"."organizationId"
              and "runs"."scheduleId" = "schedules"."id"
            order by
              "runs"."scheduledAt" desc
            limit
              10
          )
      ) as "lastOutcomes",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "schedules"
        where
          (
            "schedules"."organizationId" = (
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
            and "schedules"."id" > :cursor
          )
        order by
          "schedules"."id" asc
        limit
          2500
      ) as "schedules"
      left join "projects" on (
        "schedules"."parentType" = + 'project'
        and "projects"."organizationId" = "schedules"."organizationId"
        and "projects"."id" = "schedules"."parentId"
      )
      left join "agents" on (
        "schedules"."parentType" = + 'agent'
        and "agents"."organizationId" = "schedules"."organizationId"
        and "agents"."id" = "schedules"."parentId"
      )
    where
      (
        (
          (
            :enabled is null
            or ("schedules"."enabledAt" is not null) = + :enabled
          )
          and (
            :parentType is null
            or "schedules"."parentType" = + :parentType
          )
          and (
            :nextRunBefore is null
            or "schedules"."nextRunAt" < :nextRunBefore
          )
          and (
            :query is null
            or instr(lower("schedules"."name"), lower(:query)) > 0
          )
        )
        and (
          "projects"."id" is not null
          or "agents"."id" is not null
        )
      )
    union all
    select
      *
    from
      (
        select
          "schedules"."id",
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          1
        from
          "schedules"
        where
          (
            "schedules"."organizationId" = (
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
            and "schedules"."id" > :cursor
          )
        order by
          "schedules"."id" asc
        limit
          (
            (
              :enabled is not null
              or :parentType is not null
              or :nextRunBefore is not null
              or :query is not null
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
                  and "deletions"."resourceType" in ('project', 'agent')
              )
            )
          )
        offset
          2499
      )
  )
limit
  + :rowLimit;
