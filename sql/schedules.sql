-- src/resources/schedules/firing/fire.ts

-- insertMissedSpans
insert into
  "missedSpans" (
    "organizationId",
    "scheduleId",
    "missedFrom",
    "missedUntil",
    "parentType",
    "parentId",
    "cron",
    "timezone"
  )
select
  "schedules"."organizationId" as "organizationId",
  "schedules"."id" as "scheduleId",
  ("claims".value ->> 'dueAt') as "missedFrom",
  ("claims".value ->> 'scheduledAt') as "missedUntil",
  "schedules"."parentType" as "parentType",
  "schedules"."parentId" as "parentId",
  "schedules"."cron" as "cron",
  "schedules"."timezone" as "timezone"
from
  json_each(:claims) as "claims"
  cross join "schedules"
where
  (
    (
      (
        "schedules"."organizationId" = ("claims".value ->> 'organizationId')
        and "schedules"."parentType" = ("claims".value ->> 'parentType')
        and "schedules"."parentId" = ("claims".value ->> 'parentId')
        and "schedules"."id" = ("claims".value ->> 'id')
        and "schedules"."cron" = ("claims".value ->> 'cron')
        and "schedules"."timezone" = ("claims".value ->> 'timezone')
      )
      and "schedules"."nextRunAt" = ("claims".value ->> 'dueAt')
    )
    and ("claims".value ->> 'dueAt') < ("claims".value ->> 'scheduledAt')
  )
on conflict ("missedSpans"."organizationId", "missedSpans"."scheduleId", "missedSpans"."missedUntil") do update
set
  "missedFrom" = min("missedSpans"."missedFrom", excluded."missedFrom");

-- insertRuns
insert into
  "runs" (
    "organizationId",
    "scheduleId",
    "scheduledAt",
    "id",
    "parentType",
    "parentId",
    "status",
    "attempts",
    "lastError",
    "sendAfter",
    "createdAt",
    "updatedAt",
    "idempotencyKey"
  )
select
  "schedules"."organizationId" as "organizationId",
  "schedules"."id" as "scheduleId",
  ("claims".value ->> 'scheduledAt') as "scheduledAt",
  ("claims".value ->> 'runId') as "id",
  "schedules"."parentType" as "parentType",
  "schedules"."parentId" as "parentId",
  case
    when coalesce("projects"."archivedAt", "agents"."archivedAt") is null then 'pending'
    else 'skipped'
  end as "status",
  0 as "attempts",
  case
    when not coalesce("projects"."archivedAt", "agents"."archivedAt") is null then 'The ' || "schedules"."parentType" || ' was archived.'
  end as "lastError",
  case
    when coalesce("projects"."archivedAt", "agents"."archivedAt") is null
    and exists (
      select
        1
      from
        "runEndpoints"
      where
        "runEndpoints"."organizationId" = "schedules"."organizationId"
    ) then :leaseExpiresAt
  end as "sendAfter",
  max(
    :now,
    coalesce(
      (
        select
          "createdAt"
        from
          "runEndpoints"
        where
          "runEndpoints"."organizationId" = "schedules"."organizationId"
      ),
      ''
    )
  ) as "createdAt",
  :now as "updatedAt",
  null as "idempotencyKey"
from
  json_each(:claims) as "claims"
  cross join "schedules"
  left join "projects" on (
    "schedules"."parentType" = 'project'
    and "projects"."organizationId" = "schedules"."organizationId"
    and "projects"."id" = "schedules"."parentId"
  )
  left join "agents" on (
    "schedules"."parentType" = 'agent'
    and "agents"."organizationId" = "schedules"."organizationId"
    and "agents"."id" = "schedules"."parentId"
  )
where
  (
    (
      (
        "schedules"."organizationId" = ("claims".value ->> 'organizationId')
        and "schedules"."parentType" = ("claims".value ->> 'parentType')
        and "schedules"."parentId" = ("claims".value ->> 'parentId')
        and "schedules"."id" = ("claims".value ->> 'id')
        and "schedules"."cron" = ("claims".value ->> 'cron')
        and "schedules"."timezone" = ("claims".value ->> 'timezone')
      )
      and "schedules"."nextRunAt" = ("claims".value ->> 'dueAt')
    )
    and (
      "projects"."id" is not null
      or "agents"."id" is not null
    )
  )
on conflict do nothing
returning
  "organizationId",
  "id",
  "attempts",
  "sendAfter";

-- recordTick
insert into
  "lastTick" ("id", "scheduledAt")
values
  (1, :now)
on conflict ("lastTick"."id") do update
set
  "scheduledAt" = max("lastTick"."scheduledAt", excluded."scheduledAt");

-- selectDue
select
  "schedules"."organizationId",
  "schedules"."parentType",
  "schedules"."parentId",
  "schedules"."id",
  "schedules"."cron",
  "schedules"."timezone",
  "schedules"."nextRunAt" as "dueAt",
  coalesce("runEndpoints"."slowUntil" > :now, false) as "isSlow"
from
  "schedules"
  left join "runEndpoints" on "runEndpoints"."organizationId" = "schedules"."organizationId"
where
  "schedules"."nextRunAt" <= :now
order by
  "schedules"."nextRunAt" asc
limit
  + 250;

-- updateNextRuns
update "schedules"
set
  "enabledAt" = case
    when ("claims".value ->> 'nextRunAt') is not null then "schedules"."enabledAt"
  end,
  "lastRunAt" = nullif(
    max(
      coalesce(
        (
          select
            "scheduledAt"
          from
            "runs"
          where
            (
              "runs"."organizationId" = "schedules"."organizationId"
              and "runs"."scheduleId" = "schedules"."id"
              and "runs"."scheduledAt" = ("claims".value ->> 'scheduledAt')
              and "runs"."status" <> 'skipped'
            )
        ),
        ''
      ),
      coalesce("schedules"."lastRunAt", '')
    ),
    ''
  ),
  "nextRunAt" = ("claims".value ->> 'nextRunAt'),
  "pausedReason" = case
    when ("claims".value ->> 'nextRunAt') is null then 'The next run could not be computed. Change the cron expression or the time zone.'
  end
from
  json_each(:claims) as "claims"
where
  (
    (
      "schedules"."organizationId" = ("claims".value ->> 'organizationId')
      and "schedules"."parentType" = ("claims".value ->> 'parentType')
      and "schedules"."parentId" = ("claims".value ->> 'parentId')
      and "schedules"."id" = ("claims".value ->> 'id')
      and "schedules"."cron" = ("claims".value ->> 'cron')
      and "schedules"."timezone" = ("claims".value ->> 'timezone')
    )
    and "schedules"."nextRunAt" = ("claims".value ->> 'dueAt')
  );

-- src/resources/schedules/firing/record-missed.ts

-- deleteRecordedSpans
delete from "missedSpans"
where
  ("missedSpans"."organizationId", "missedSpans"."scheduleId", "missedSpans"."missedUntil") in (
    select
      ("recorded".value ->> 'organizationId') as "organizationId",
      ("recorded".value ->> 'scheduleId') as "scheduleId",
      ("recorded".value ->> 'missedUntil') as "missedUntil"
    from
      json_each(:recorded) as "recorded"
  )
  and "missedSpans"."missedFrom" >= "missedSpans"."missedUntil";

-- insertSkipped
insert into
  "runs" (
    "organizationId",
    "scheduleId",
    "scheduledAt",
    "id",
    "parentType",
    "parentId",
    "status",
    "attempts",
    "lastError",
    "sendAfter",
    "createdAt",
    "updatedAt",
    "idempotencyKey"
  )
select
  "schedules"."organizationId" as "organizationId",
  "schedules"."id" as "scheduleId",
  ("missed".value ->> 'scheduledAt') as "scheduledAt",
  ("missed".value ->> 'runId') as "id",
  "schedules"."parentType" as "parentType",
  "schedules"."parentId" as "parentId",
  'skipped' as "status",
  0 as "attempts",
  'The run was missed. The run of ' || "missedSpans"."missedUntil" || ' replaces it.' as "lastError",
  null as "sendAfter",
  :now as "createdAt",
  :now as "updatedAt",
  null as "idempotencyKey"
from
  json_each(:missed) as "missed"
  cross join "missedSpans"
  inner join "schedules" on (
    "schedules"."organizationId" = "missedSpans"."organizationId"
    and "schedules"."parentType" = "missedSpans"."parentType"
    and "schedules"."parentId" = "missedSpans"."parentId"
    and "schedules"."id" = "missedSpans"."scheduleId"
  )
where
  (
    "missedSpans"."organizationId" = ("missed".value ->> 'organizationId')
    and "missedSpans"."scheduleId" = ("missed".value ->> 'scheduleId')
    and "missedSpans"."missedUntil" = ("missed".value ->> 'missedUntil')
  )
on conflict do nothing;

-- selectSpans
select
  "organizationId",
  "scheduleId",
  "missedFrom",
  "missedUntil",
  "parentType",
  "parentId",
  "cron",
  "timezone"
from
  "missedSpans"
where
  "missedSpans"."missedFrom" <= :now
order by
  "missedSpans"."missedFrom" asc
limit
  + 50;

-- shortenSpans
update "missedSpans"
set
  "missedFrom" = ("recorded".value ->> 'nextFrom')
from
  json_each(:recorded) as "recorded"
where
  (
    "missedSpans"."organizationId" = ("recorded".value ->> 'organizationId')
    and "missedSpans"."scheduleId" = ("recorded".value ->> 'scheduleId')
    and "missedSpans"."missedUntil" = ("recorded".value ->> 'missedUntil')
    and "missedSpans"."missedFrom" = ("recorded".value ->> 'missedFrom')
  );

-- src/resources/schedules/firing/refresh-next-runs.ts

-- selectPage
select
  "organizationId",
  "parentType",
  "parentId",
  "id",
  "cron",
  "timezone",
  "enabledAt",
  "lastRunAt",
  "nextRunAt",
  "updatedAt"
from
  "schedules"
where
  ("schedules"."organizationId", "schedules"."parentType", "schedules"."parentId", "schedules"."id") > (:after ->> 0, :after ->> 1, :after ->> 2, :after ->> 3)
order by
  "schedules"."organizationId" asc,
  "schedules"."parentType" asc,
  "schedules"."parentId" asc,
  "schedules"."id" asc
limit
  + 100;

-- storeNextRuns
update "schedules"
set
  "enabledAt" = case
    when ("refreshed".value ->> 'newNextRunAt') is not null then "schedules"."enabledAt"
  end,
  "nextRunAt" = ("refreshed".value ->> 'newNextRunAt'),
  "pausedReason" = case
    when ("refreshed".value ->> 'newNextRunAt') is null then 'The next run could not be computed. Change the cron expression or the time zone.'
  end
from
  json_each(:refreshed) as "refreshed"
where
  (
    (
      "schedules"."organizationId" = ("refreshed".value ->> 'organizationId')
      and "schedules"."parentType" = ("refreshed".value ->> 'parentType')
      and "schedules"."parentId" = ("refreshed".value ->> 'parentId')
      and "schedules"."id" = ("refreshed".value ->> 'id')
      and "schedules"."cron" = ("refreshed".value ->> 'cron')
      and "schedules"."timezone" = ("refreshed".value ->> 'timezone')
      and "schedules"."enabledAt" = ("refreshed".value ->> 'enabledAt')
    )
    and "schedules"."nextRunAt" is ("refreshed".value ->> 'nextRunAt')
  );

-- src/resources/schedules/preconditions.ts

-- agentPreconditions.creatable.check
select
  case
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
  end as "keyEnd",
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
  "agents"."id" is not null as "parentExists",
  "earlier"."id" is null as "idempotencyKeyIsNew",
  "agents"."archivedAt" is null as "parentIsActive",
  (
    select
      case
        when "organizationUsage"."schedules" + (1) > max("organizationUsage"."schedules", :schedulesQuota) then 'schedules'
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
    and "agents"."id" = :agentId
  )
  left join "schedules" "earlier" on (
    (
      "earlier"."organizationId" = "apiKeys"."organizationId"
      and "earlier"."parentType" = 'agent'
      and "earlier"."parentId" = :agentId
    )
    and "earlier"."idempotencyKey" = :idempotencyKey
  )
where
  "apiKeys"."hash" = :keyHash;

-- agentPreconditions.listable.check
select
  case
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
  end as "keyEnd",
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
  "agents"."id" is not null as "parentExists"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = :agentId
  )
where
  "apiKeys"."hash" = :keyHash;

-- agentPreconditions.deletable.check
select
  case
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
  end as "keyEnd",
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
    and "agents"."id" = :agentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = 'agent'
      and "schedules"."parentId" = :agentId
    )
    and "schedules"."id" = :scheduleId
  )
where
  "apiKeys"."hash" = :keyHash;

-- agentPreconditions.updatable.check
select
  case
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
  end as "keyEnd",
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
  "agents"."id" is not null as "parentExists",
  "schedules"."id" is not null as "scheduleExists",
  "agents"."archivedAt" is null as "parentIsActive",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "schedules"."revision" is not null
  )
  or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0 as "matchesRevision",
  (
    "schedules"."cron" = coalesce(:seenCron, "schedules"."cron")
    and "schedules"."timezone" = coalesce(:seenTimezone, "schedules"."timezone")
  ) as "isUnchanged"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = :agentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = 'agent'
      and "schedules"."parentId" = :agentId
    )
    and "schedules"."id" = :scheduleId
  )
where
  "apiKeys"."hash" = :keyHash;

-- projectPreconditions.creatable.check
select
  case
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
  end as "keyEnd",
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
  "projects"."id" is not null as "parentExists",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "projectIsInReach",
  "earlier"."id" is null as "idempotencyKeyIsNew",
  "projects"."archivedAt" is null as "parentIsActive",
  (
    select
      case
        when "organizationUsage"."schedules" + (1) > max("organizationUsage"."schedules", :schedulesQuota) then 'schedules'
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
    and "projects"."id" = :projectId
  )
  left join "schedules" "earlier" on (
    (
      "earlier"."organizationId" = "apiKeys"."organizationId"
      and "earlier"."parentType" = 'project'
      and "earlier"."parentId" = :projectId
    )
    and "earlier"."idempotencyKey" = :idempotencyKey
  )
where
  "apiKeys"."hash" = :keyHash;

-- projectPreconditions.listable.check
select
  case
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
  end as "keyEnd",
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
  "projects"."id" is not null as "parentExists",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "projectIsInReach"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = :projectId
  )
where
  "apiKeys"."hash" = :keyHash;

-- projectPreconditions.deletable.check
select
  case
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
  end as "keyEnd",
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
  "projects"."id" is not null as "parentExists",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "projectIsInReach",
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
    and "projects"."id" = :projectId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = 'project'
      and "schedules"."parentId" = :projectId
    )
    and "schedules"."id" = :scheduleId
  )
where
  "apiKeys"."hash" = :keyHash;

-- projectPreconditions.updatable.check
select
  case
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
  end as "keyEnd",
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
  "projects"."id" is not null as "parentExists",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "projectIsInReach",
  "schedules"."id" is not null as "scheduleExists",
  "projects"."archivedAt" is null as "parentIsActive",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "schedules"."revision" is not null
  )
  or instr(:ifMatch, '"' || "schedules"."revision" || '"') > 0 as "matchesRevision",
  (
    "schedules"."cron" = coalesce(:seenCron, "schedules"."cron")
    and "schedules"."timezone" = coalesce(:seenTimezone, "schedules"."timezone")
  ) as "isUnchanged"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = :projectId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = 'project'
      and "schedules"."parentId" = :projectId
    )
    and "schedules"."id" = :scheduleId
  )
where
  "apiKeys"."hash" = :keyHash;

-- src/resources/schedules/statements.ts

-- agentSchedules.insert
insert into
  "schedules" (
    "organizationId",
    "parentType",
    "parentId",
    "id",
    "cron",
    "timezone",
    "enabledAt",
    "lastRunAt",
    "nextRunAt",
    "createdAt",
    "updatedAt",
    "idempotencyKey",
    "idempotencyFingerprint",
    "pausedReason",
    "revision"
  )
select
  "apiKeys"."organizationId" as "organizationId",
  'agent' as "parentType",
  :agentId as "parentId",
  :id as "id",
  :cron as "cron",
  :timezone as "timezone",
  :now as "enabledAt",
  null as "lastRunAt",
  :nextRunAt as "nextRunAt",
  :now as "createdAt",
  :now as "updatedAt",
  :idempotencyKey as "idempotencyKey",
  :idempotencyFingerprint as "idempotencyFingerprint",
  null as "pausedReason",
  lower(hex(randomblob(8))) as "revision"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = :agentId
  )
  left join "schedules" "earlier" on (
    (
      "earlier"."organizationId" = "apiKeys"."organizationId"
      and "earlier"."parentType" = 'agent'
      and "earlier"."parentId" = :agentId
    )
    and "earlier"."idempotencyKey" = :idempotencyKey
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and case
        when "apiKeys"."revokedAt" is not null then 'revoked'
        when "apiKeys"."expiresAt" <= :now then 'expired'
      end is null
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and ("agents"."id" is not null)
    and ("earlier"."id" is null)
    and ("agents"."archivedAt" is null)
    and (
      select
        case
          when "organizationUsage"."schedules" + (1) > max("organizationUsage"."schedules", :schedulesQuota) then 'schedules'
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
            and "schedules"."parentType" = 'agent'
            and "schedules"."parentId" = :agentId
          )
      ) < :scheduleLimit
    )
  );

-- agentSchedules.selectCreated
select
  "schedules"."id",
  "schedules"."parentId" as "agentId",
  "schedules"."cron",
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
    and "agents"."id" = :agentId
  )
  inner join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = 'agent'
      and "schedules"."parentId" = :agentId
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
              and "earlier"."parentType" = 'agent'
              and "earlier"."parentId" = :agentId
            )
            and "earlier"."idempotencyKey" = :idempotencyKey
          )
      ),
      :id
    )
  )
where
  (
    (
      (
        "apiKeys"."hash" = :keyHash
        and case
          when "apiKeys"."revokedAt" is not null then 'revoked'
          when "apiKeys"."expiresAt" <= :now then 'expired'
        end is null
        and (
          :scope is null
          or instr("apiKeys"."scopes", json_quote(:scope)) > 0
        )
      )
      and ("agents"."id" is not null)
    )
    and (
      "schedules"."idempotencyKey" is null
      or "schedules"."idempotencyFingerprint" = :idempotencyFingerprint
    )
  );

-- agentSchedules.list
select
  "id",
  "parentId" as "agentId",
  "cron",
  "enabledAt",
  "lastRunAt",
  "nextRunAt",
  "createdAt",
  "updatedAt",
  "pausedReason"
from
  "schedules"
where
  (
    "schedules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "agents" on (
          "agents"."organizationId" = "apiKeys"."organizationId"
          and "agents"."id" = :agentId
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and case
              when "apiKeys"."revokedAt" is not null then 'revoked'
              when "apiKeys"."expiresAt" <= :now then 'expired'
            end is null
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and ("agents"."id" is not null)
        )
    )
    and "schedules"."parentType" = 'agent'
    and "schedules"."parentId" = :agentId
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
  "schedules"."pausedReason",
  "schedules"."revision"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = :agentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = 'agent'
      and "schedules"."parentId" = :agentId
    )
    and "schedules"."id" = :scheduleId
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and case
        when "apiKeys"."revokedAt" is not null then 'revoked'
        when "apiKeys"."expiresAt" <= :now then 'expired'
      end is null
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and ("agents"."id" is not null)
    and ("schedules"."id" is not null)
  );

-- agentSchedules.update
update "schedules"
set
  "cron" = coalesce(:cron, "schedules"."cron"),
  "timezone" = coalesce(:timezone, "schedules"."timezone"),
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
    and "schedules"."cron" = coalesce(:cron, "schedules"."cron")
    and "schedules"."timezone" = coalesce(:timezone, "schedules"."timezone") then "schedules"."nextRunAt"
    else :nextRunAt
  end,
  "updatedAt" = :now,
  "pausedReason" = case
    when :enabled then null
    else "schedules"."pausedReason"
  end,
  "revision" = lower(hex(randomblob(8)))
where
  (
    "schedules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "agents" on (
          "agents"."organizationId" = "apiKeys"."organizationId"
          and "agents"."id" = :agentId
        )
        left join "schedules" on (
          (
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = 'agent'
            and "schedules"."parentId" = :agentId
          )
          and "schedules"."id" = :scheduleId
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and case
              when "apiKeys"."revokedAt" is not null then 'revoked'
              when "apiKeys"."expiresAt" <= :now then 'expired'
            end is null
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
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
          and (
            (
              "schedules"."cron" = coalesce(:seenCron, "schedules"."cron")
              and "schedules"."timezone" = coalesce(:seenTimezone, "schedules"."timezone")
            )
          )
        )
    )
    and (
      "schedules"."parentType" = 'agent'
      and "schedules"."parentId" = :agentId
      and "schedules"."id" = :scheduleId
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
  "pausedReason",
  "revision";

-- agentSchedules.deletion.0
insert into
  "deletions" ("organizationId", "resourceType", "resourceId", "projectId", "deletedAt", "purgedAt")
select
  "schedules"."organizationId" as "organizationId",
  'schedule' as "resourceType",
  "schedules"."id" as "resourceId",
  null as "projectId",
  :now as "deletedAt",
  null as "purgedAt"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = :agentId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = 'agent'
      and "schedules"."parentId" = :agentId
    )
    and "schedules"."id" = :scheduleId
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and case
        when "apiKeys"."revokedAt" is not null then 'revoked'
        when "apiKeys"."expiresAt" <= :now then 'expired'
      end is null
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
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

-- agentSchedules.deletion.1
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
          and "agents"."id" = :agentId
        )
        left join "schedules" on (
          (
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = 'agent'
            and "schedules"."parentId" = :agentId
          )
          and "schedules"."id" = :scheduleId
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and case
              when "apiKeys"."revokedAt" is not null then 'revoked'
              when "apiKeys"."expiresAt" <= :now then 'expired'
            end is null
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
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
      "schedules"."parentType" = 'agent'
      and "schedules"."parentId" = :agentId
      and "schedules"."id" = :scheduleId
    )
  )
returning
  "id";

-- projectSchedules.insert
insert into
  "schedules" (
    "organizationId",
    "parentType",
    "parentId",
    "id",
    "cron",
    "timezone",
    "enabledAt",
    "lastRunAt",
    "nextRunAt",
    "createdAt",
    "updatedAt",
    "idempotencyKey",
    "idempotencyFingerprint",
    "pausedReason",
    "revision"
  )
select
  "apiKeys"."organizationId" as "organizationId",
  'project' as "parentType",
  :projectId as "parentId",
  :id as "id",
  :cron as "cron",
  :timezone as "timezone",
  :now as "enabledAt",
  null as "lastRunAt",
  :nextRunAt as "nextRunAt",
  :now as "createdAt",
  :now as "updatedAt",
  :idempotencyKey as "idempotencyKey",
  :idempotencyFingerprint as "idempotencyFingerprint",
  null as "pausedReason",
  lower(hex(randomblob(8))) as "revision"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = :projectId
  )
  left join "schedules" "earlier" on (
    (
      "earlier"."organizationId" = "apiKeys"."organizationId"
      and "earlier"."parentType" = 'project'
      and "earlier"."parentId" = :projectId
    )
    and "earlier"."idempotencyKey" = :idempotencyKey
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and case
        when "apiKeys"."revokedAt" is not null then 'revoked'
        when "apiKeys"."expiresAt" <= :now then 'expired'
      end is null
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
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
          when "organizationUsage"."schedules" + (1) > max("organizationUsage"."schedules", :schedulesQuota) then 'schedules'
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
            and "schedules"."parentType" = 'project'
            and "schedules"."parentId" = :projectId
          )
      ) < :scheduleLimit
    )
  );

-- projectSchedules.selectCreated
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
  "schedules"."revision"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = :projectId
  )
  inner join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = 'project'
      and "schedules"."parentId" = :projectId
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
              and "earlier"."parentType" = 'project'
              and "earlier"."parentId" = :projectId
            )
            and "earlier"."idempotencyKey" = :idempotencyKey
          )
      ),
      :id
    )
  )
where
  (
    (
      (
        "apiKeys"."hash" = :keyHash
        and case
          when "apiKeys"."revokedAt" is not null then 'revoked'
          when "apiKeys"."expiresAt" <= :now then 'expired'
        end is null
        and (
          :scope is null
          or instr("apiKeys"."scopes", json_quote(:scope)) > 0
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
      or "schedules"."idempotencyFingerprint" = :idempotencyFingerprint
    )
  );

-- projectSchedules.list
select
  "id",
  "parentId" as "projectId",
  "cron",
  "timezone",
  "enabledAt",
  "lastRunAt",
  "nextRunAt",
  "createdAt",
  "updatedAt",
  "pausedReason"
from
  "schedules"
where
  (
    "schedules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "projects" on (
          "projects"."organizationId" = "apiKeys"."organizationId"
          and "projects"."id" = :projectId
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and case
              when "apiKeys"."revokedAt" is not null then 'revoked'
              when "apiKeys"."expiresAt" <= :now then 'expired'
            end is null
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
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
    and "schedules"."parentType" = 'project'
    and "schedules"."parentId" = :projectId
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
  "schedules"."pausedReason",
  "schedules"."revision"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = :projectId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = 'project'
      and "schedules"."parentId" = :projectId
    )
    and "schedules"."id" = :scheduleId
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and case
        when "apiKeys"."revokedAt" is not null then 'revoked'
        when "apiKeys"."expiresAt" <= :now then 'expired'
      end is null
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
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

-- projectSchedules.update
update "schedules"
set
  "cron" = coalesce(:cron, "schedules"."cron"),
  "timezone" = coalesce(:timezone, "schedules"."timezone"),
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
    and "schedules"."cron" = coalesce(:cron, "schedules"."cron")
    and "schedules"."timezone" = coalesce(:timezone, "schedules"."timezone") then "schedules"."nextRunAt"
    else :nextRunAt
  end,
  "updatedAt" = :now,
  "pausedReason" = case
    when :enabled then null
    else "schedules"."pausedReason"
  end,
  "revision" = lower(hex(randomblob(8)))
where
  (
    "schedules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "projects" on (
          "projects"."organizationId" = "apiKeys"."organizationId"
          and "projects"."id" = :projectId
        )
        left join "schedules" on (
          (
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = 'project'
            and "schedules"."parentId" = :projectId
          )
          and "schedules"."id" = :scheduleId
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and case
              when "apiKeys"."revokedAt" is not null then 'revoked'
              when "apiKeys"."expiresAt" <= :now then 'expired'
            end is null
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
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
          and (
            (
              "schedules"."cron" = coalesce(:seenCron, "schedules"."cron")
              and "schedules"."timezone" = coalesce(:seenTimezone, "schedules"."timezone")
            )
          )
        )
    )
    and (
      "schedules"."parentType" = 'project'
      and "schedules"."parentId" = :projectId
      and "schedules"."id" = :scheduleId
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
  "pausedReason",
  "revision";

-- projectSchedules.deletion.0
insert into
  "deletions" ("organizationId", "resourceType", "resourceId", "projectId", "deletedAt", "purgedAt")
select
  "schedules"."organizationId" as "organizationId",
  'schedule' as "resourceType",
  "schedules"."id" as "resourceId",
  null as "projectId",
  :now as "deletedAt",
  null as "purgedAt"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = :projectId
  )
  left join "schedules" on (
    (
      "schedules"."organizationId" = "apiKeys"."organizationId"
      and "schedules"."parentType" = 'project'
      and "schedules"."parentId" = :projectId
    )
    and "schedules"."id" = :scheduleId
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and case
        when "apiKeys"."revokedAt" is not null then 'revoked'
        when "apiKeys"."expiresAt" <= :now then 'expired'
      end is null
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
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

-- projectSchedules.deletion.1
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
          and "projects"."id" = :projectId
        )
        left join "schedules" on (
          (
            "schedules"."organizationId" = "apiKeys"."organizationId"
            and "schedules"."parentType" = 'project'
            and "schedules"."parentId" = :projectId
          )
          and "schedules"."id" = :scheduleId
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and case
              when "apiKeys"."revokedAt" is not null then 'revoked'
              when "apiKeys"."expiresAt" <= :now then 'expired'
            end is null
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
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
      "schedules"."parentType" = 'project'
      and "schedules"."parentId" = :projectId
      and "schedules"."id" = :scheduleId
    )
  )
returning
  "id";
