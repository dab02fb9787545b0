-- src/resources/runs/statements.ts

-- accessible.check
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
  (
    "runs"."id" is not null
    and (
      "schedules"."id" is not null
      and (
        "projects"."id" is not null
        or "agents"."id" is not null
      )
    )
  ) as "runExists",
  (
    "agents"."id" is not null
    or (
      "apiKeys"."projectIds" is null
      or "projects"."id" in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
  ) as "isInReach"
from
  "apiKeys"
  left join "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" = :runId
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."parentType" = "runs"."parentType"
    and "schedules"."parentId" = "runs"."parentId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
  )
where
  "apiKeys"."hash" = :keyHash;

-- acknowledge
update "runs"
set
  "status" = 'delivered',
  "sendAfter" = null,
  "updatedAt" = :now
where
  (
    "runs"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "runs" on (
          "runs"."organizationId" = "apiKeys"."organizationId"
          and "runs"."id" = :runId
        )
        left join "schedules" on (
          "schedules"."organizationId" = "runs"."organizationId"
          and "schedules"."parentType" = "runs"."parentType"
          and "schedules"."parentId" = "runs"."parentId"
          and "schedules"."id" = "runs"."scheduleId"
        )
        left join "projects" on (
          "runs"."parentType" = 'project'
          and "projects"."organizationId" = "runs"."organizationId"
          and "projects"."id" = "runs"."parentId"
        )
        left join "agents" on (
          "runs"."parentType" = 'agent'
          and "agents"."organizationId" = "runs"."organizationId"
          and "agents"."id" = "runs"."parentId"
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
          and (
            (
              "runs"."id" is not null
              and (
                "schedules"."id" is not null
                and (
                  "projects"."id" is not null
                  or "agents"."id" is not null
                )
              )
            )
          )
          and (
            (
              "agents"."id" is not null
              or (
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
    )
    and "runs"."status" = 'pending'
    and "runs"."id" = :runId
  );

-- agentScheduleRuns.readable.check
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
  "schedules"."id" is not null as "scheduleExists"
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

-- agentScheduleRuns.list
select
  "id",
  "scheduleId",
  case "parentType"
    when 'project' then "parentId"
  end as "projectId",
  case "parentType"
    when 'agent' then "parentId"
  end as "agentId",
  "scheduledAt",
  "status",
  "attempts",
  "lastError",
  "createdAt",
  "updatedAt"
from
  "runs"
where
  (
    "runs"."organizationId" = (
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
        )
    )
    and "runs"."scheduleId" = :scheduleId
    and "runs"."scheduledAt" < :before
  )
order by
  "runs"."scheduledAt" desc
limit
  + :rowLimit;

-- agentScheduleRuns.changeable.check
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
  "agents"."archivedAt" is null as "parentIsActive"
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

-- agentScheduleRuns.insert
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
  :scheduledAt as "scheduledAt",
  :id as "id",
  "schedules"."parentType" as "parentType",
  "schedules"."parentId" as "parentId",
  'pending' as "status",
  0 as "attempts",
  null as "lastError",
  case
    when exists (
      select
        1
      from
        "runEndpoints"
      where
        "runEndpoints"."organizationId" = "schedules"."organizationId"
    ) then :sendAfter
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
  :idempotencyKey as "idempotencyKey"
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
  )
on conflict do nothing;

-- agentScheduleRuns.updateLastRun
update "schedules"
set
  "lastRunAt" = max(coalesce("schedules"."lastRunAt", ''), :scheduledAt)
where
  (
    "schedules"."organizationId" = (
      select
        "schedules"."organizationId"
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
        inner join "runs" on (
          (
            "runs"."organizationId" = "schedules"."organizationId"
            and "runs"."scheduleId" = "schedules"."id"
          )
          and "runs"."scheduledAt" = :scheduledAt
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
        )
    )
    and "schedules"."parentType" = 'agent'
    and "schedules"."parentId" = :agentId
    and "schedules"."id" = :scheduleId
  );

-- agentScheduleRuns.selectCreated
select
  "runs"."id",
  "runs"."scheduleId",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "agentId",
  "runs"."scheduledAt",
  "runs"."status",
  "runs"."attempts",
  "runs"."lastError",
  "runs"."createdAt",
  "runs"."updatedAt"
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
  inner join "runs" on (
    (
      "runs"."organizationId" = "schedules"."organizationId"
      and "runs"."scheduleId" = "schedules"."id"
    )
    and "runs"."scheduledAt" = coalesce(
      (
        select
          "scheduledAt"
        from
          "runs" "earlier"
        where
          (
            "earlier"."organizationId" = "schedules"."organizationId"
            and "earlier"."scheduleId" = "schedules"."id"
            and "earlier"."idempotencyKey" = :idempotencyKey
          )
      ),
      :scheduledAt
    )
    and (
      :idempotencyKey is null
      or "runs"."idempotencyKey" = :idempotencyKey
    )
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

-- listable.check
select
  case
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
  end as "keyEnd",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "organizationId" as "callerOrganizationId",
  "userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
  ) as "isLastUsedStale",
  "apiKeys"."projectIds" is null as "isUnrestricted"
from
  "apiKeys"
where
  "apiKeys"."hash" = :keyHash;

-- projectScheduleRuns.readable.check
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
  "schedules"."id" is not null as "scheduleExists"
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

-- projectScheduleRuns.list
select
  "id",
  "scheduleId",
  case "parentType"
    when 'project' then "parentId"
  end as "projectId",
  case "parentType"
    when 'agent' then "parentId"
  end as "agentId",
  "scheduledAt",
  "status",
  "attempts",
  "lastError",
  "createdAt",
  "updatedAt"
from
  "runs"
where
  (
    "runs"."organizationId" = (
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
        )
    )
    and "runs"."scheduleId" = :scheduleId
    and "runs"."scheduledAt" < :before
  )
order by
  "runs"."scheduledAt" desc
limit
  + :rowLimit;

-- projectScheduleRuns.changeable.check
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
  "projects"."archivedAt" is null as "parentIsActive"
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

-- projectScheduleRuns.insert
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
  :scheduledAt as "scheduledAt",
  :id as "id",
  "schedules"."parentType" as "parentType",
  "schedules"."parentId" as "parentId",
  'pending' as "status",
  0 as "attempts",
  null as "lastError",
  case
    when exists (
      select
        1
      from
        "runEndpoints"
      where
        "runEndpoints"."organizationId" = "schedules"."organizationId"
    ) then :sendAfter
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
  :idempotencyKey as "idempotencyKey"
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
  )
on conflict do nothing;

-- projectScheduleRuns.updateLastRun
update "schedules"
set
  "lastRunAt" = max(coalesce("schedules"."lastRunAt", ''), :scheduledAt)
where
  (
    "schedules"."organizationId" = (
      select
        "schedules"."organizationId"
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
        inner join "runs" on (
          (
            "runs"."organizationId" = "schedules"."organizationId"
            and "runs"."scheduleId" = "schedules"."id"
          )
          and "runs"."scheduledAt" = :scheduledAt
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
        )
    )
    and "schedules"."parentType" = 'project'
    and "schedules"."parentId" = :projectId
    and "schedules"."id" = :scheduleId
  );

-- projectScheduleRuns.selectCreated
select
  "runs"."id",
  "runs"."scheduleId",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "agentId",
  "runs"."scheduledAt",
  "runs"."status",
  "runs"."attempts",
  "runs"."lastError",
  "runs"."createdAt",
  "runs"."updatedAt"
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
  inner join "runs" on (
    (
      "runs"."organizationId" = "schedules"."organizationId"
      and "runs"."scheduleId" = "schedules"."id"
    )
    and "runs"."scheduledAt" = coalesce(
      (
        select
          "scheduledAt"
        from
          "runs" "earlier"
        where
          (
            "earlier"."organizationId" = "schedules"."organizationId"
            and "earlier"."scheduleId" = "schedules"."id"
            and "earlier"."idempotencyKey" = :idempotencyKey
          )
      ),
      :scheduledAt
    )
    and (
      :idempotencyKey is null
      or "runs"."idempotencyKey" = :idempotencyKey
    )
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

-- selectLastExamined
select
  "id"
from
  "runs"
where
  (
    "runs"."organizationId" = (
      select
        "organizationId"
      from
        "apiKeys"
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
          and ("apiKeys"."projectIds" is null)
        )
    )
    and "runs"."id" > :cursor
  )
order by
  "runs"."id" asc
limit
  + 1
offset
  2499;

-- selectPendingRuns
select
  "runs"."id" as "id",
  "runs"."scheduleId" as "scheduleId",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "agentId",
  "runs"."scheduledAt" as "scheduledAt",
  "runs"."status" as "status",
  "runs"."attempts" as "attempts",
  "runs"."lastError" as "lastError",
  "runs"."createdAt" as "createdAt",
  "runs"."updatedAt" as "updatedAt"
from
  "apiKeys"
  inner join "runs" indexed by "runsPending" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" > :cursor
    and "runs"."status" = 'pending'
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."parentType" = "runs"."parentType"
    and "schedules"."parentId" = "runs"."parentId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
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
      and ("apiKeys"."projectIds" is null)
    )
    and (
      "schedules"."id" is not null
      and (
        "projects"."id" is not null
        or "agents"."id" is not null
      )
    )
  )
order by
  "runs"."id" asc
limit
  + :rowLimit;

-- selectRun
select
  "runs"."id",
  "runs"."scheduleId",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "agentId",
  "runs"."scheduledAt",
  "runs"."status",
  "runs"."attempts",
  "runs"."lastError",
  "runs"."createdAt",
  "runs"."updatedAt"
from
  "apiKeys"
  left join "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" = :runId
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."parentType" = "runs"."parentType"
    and "schedules"."parentId" = "runs"."parentId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
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
    and (
      (
        "runs"."id" is not null
        and (
          "schedules"."id" is not null
          and (
            "projects"."id" is not null
            or "agents"."id" is not null
          )
        )
      )
    )
    and (
      (
        "agents"."id" is not null
        or (
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
  );

-- selectRunsByStatus
select
  "runs"."id" as "id",
  "runs"."scheduleId" as "scheduleId",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "agentId",
  "runs"."scheduledAt" as "scheduledAt",
  "runs"."status" as "status",
  "runs"."attempts" as "attempts",
  "runs"."lastError" as "lastError",
  "runs"."createdAt" as "createdAt",
  "runs"."updatedAt" as "updatedAt"
from
  "apiKeys"
  inner join (
    select
      *
    from
      "runs"
    where
      (
        "runs"."organizationId" = (
          select
            "organizationId"
          from
            "apiKeys"
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
              and ("apiKeys"."projectIds" is null)
            )
        )
        and "runs"."id" > :cursor
      )
    order by
      "runs"."id"
    limit
      2500
  ) as "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" > :cursor
    and "runs"."status" = :status
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."parentType" = "runs"."parentType"
    and "schedules"."parentId" = "runs"."parentId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
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
      and ("apiKeys"."projectIds" is null)
    )
    and (
      "schedules"."id" is not null
      and (
        "projects"."id" is not null
        or "agents"."id" is not null
      )
    )
  )
order by
  "runs"."id" asc
limit
  + :rowLimit;
