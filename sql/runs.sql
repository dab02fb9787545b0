-- src/resources/work/runs/statements.ts

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
  ) as "isAccessible"
from
  "apiKeys"
  left join "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" = + :runId
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = + 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = + 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- acknowledge
update "runs"
set
  "status" = + 'delivered',
  "attempts" = max(
    "runs"."attempts",
    "runs"."status" = 'pending'
    and "runs"."checkAt" is not null
  ),
  "nextAttemptAt" = + null,
  "claimId" = + null,
  "checkAt" = (
    select
      strftime('%Y-%m-%dT%H:%M:%fZ', :now, "maxRunSeconds" || ' seconds') as "value"
    from
      "schedules"
    where
      (
        "schedules"."organizationId" = "runs"."organizationId"
        and "schedules"."id" = "runs"."scheduleId"
      )
  ),
  "startedAt" = + :now,
  "updatedAt" = + :now
where
  (
    "runs"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "runs" on (
          "runs"."organizationId" = "apiKeys"."organizationId"
          and "runs"."id" = + :runId
        )
        left join "schedules" on (
          "schedules"."organizationId" = "runs"."organizationId"
          and "schedules"."id" = "runs"."scheduleId"
        )
        left join "projects" on (
          "runs"."parentType" = + 'project'
          and "projects"."organizationId" = "runs"."organizationId"
          and "projects"."id" = "runs"."parentId"
        )
        left join "agents" on (
          "runs"."parentType" = + 'agent'
          and "agents"."organizationId" = "runs"."organizationId"
          and "agents"."id" = "runs"."parentId"
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
          and (
            not (
              "runs"."status" = 'delivered'
              and "runs"."claimId" is not null
            )
          )
        )
    )
    and "runs"."status" = + 'pending'
    and "runs"."id" = + :runId
  );

-- acknowledge.recording
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
  'run.acknowledged' as "type",
  "runs"."id" as "resourceId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "parentId",
  "schedules"."name" as "resourceName",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" = + :runId
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = + 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = + 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
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
      and (
        not (
          "runs"."status" = 'delivered'
          and "runs"."claimId" is not null
        )
      )
    )
    and (
      "runs"."status" = + 'pending'
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

-- acknowledgeable.check
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
  ) as "isAccessible",
  not (
    "runs"."status" = 'delivered'
    and "runs"."claimId" is not null
  ) as "isUnclaimed"
from
  "apiKeys"
  left join "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" = + :runId
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = + 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = + 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- agentScheduleRuns.readable.check
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
  "schedules"."id" is not null as "scheduleExists"
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

-- agentScheduleRuns.list
select
  "id",
  "scheduleId",
  (
    select
      "schedules"."name"
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
  ) as "scheduleName",
  case "parentType"
    when 'project' then "parentId"
  end as "projectId",
  case "parentType"
    when 'agent' then "parentId"
  end as "agentId",
  "scheduledAt",
  "status",
  "failure",
  "attempts",
  "lastError",
  "lastAttempts",
  "nextAttemptAt",
  case
    when "status" = 'delivered'
    and "claimId" is not null then json_insert("claimedBy", '$.leaseExpiresAt', substr("runs"."checkAt", -24))
  end as "claim",
  "startedAt",
  "finishedAt",
  "message",
  "sessionId",
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
    and "runs"."scheduledAt" < :before
  )
order by
  "runs"."scheduledAt" desc
limit
  + :rowLimit;

-- agentScheduleRuns.changeable.check
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
  "agents"."archivedAt" is null as "parentIsActive"
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
    "failure",
    "attempts",
    "lastError",
    "lastAttempts",
    "nextAttemptAt",
    "redeliveredAt",
    "claimId",
    "claimedBy",
    "checkAt",
    "startedAt",
    "finishedAt",
    "message",
    "sessionId",
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
  case
    when (
      case
        when not (true) then 'The ' || "schedules"."parentType" || ' was archived.'
        when "schedules"."overlap" = 'skip'
        and "schedules"."lastRunAt" > :scheduledAt then 'The run of ' || "schedules"."lastRunAt" || ' was created before this one fired.'
        else 'The run of ' || (
          select
            "scheduledAt"
          from
            "runs" "previous"
          where
            (
              "schedules"."overlap" = + 'skip'
              and "previous"."organizationId" = "schedules"."organizationId"
              and "previous"."scheduleId" = "schedules"."id"
              and "previous"."scheduledAt" = "schedules"."lastRunAt"
              and (
                "previous"."status" = + 'pending'
                or (
                  "previous"."status" = + 'delivered'
                  and max(
                    coalesce(substr("previous"."checkAt", -24), ''),
                    strftime('%Y-%m-%dT%H:%M:%fZ', "previous"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
                  ) > :now
                )
              )
            )
        ) || ' was not finished.'
      end
    ) is not null then 'skipped'
    else 'pending'
  end as "status",
  null as "failure",
  0 as "attempts",
  case
    when not (true) then 'The ' || "schedules"."parentType" || ' was archived.'
    when "schedules"."overlap" = 'skip'
    and "schedules"."lastRunAt" > :scheduledAt then 'The run of ' || "schedules"."lastRunAt" || ' was created before this one fired.'
    else 'The run of ' || (
      select
        "scheduledAt"
      from
        "runs" "previous"
      where
        (
          "schedules"."overlap" = + 'skip'
          and "previous"."organizationId" = "schedules"."organizationId"
          and "previous"."scheduleId" = "schedules"."id"
          and "previous"."scheduledAt" = "schedules"."lastRunAt"
          and (
            "previous"."status" = + 'pending'
            or (
              "previous"."status" = + 'delivered'
              and max(
                coalesce(substr("previous"."checkAt", -24), ''),
                strftime('%Y-%m-%dT%H:%M:%fZ', "previous"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
              ) > :now
            )
          )
        )
    ) || ' was not finished.'
  end as "lastError",
  null as "lastAttempts",
  null as "nextAttemptAt",
  null as "redeliveredAt",
  null as "claimId",
  null as "claimedBy",
  case
    when not (
      case
        when not (true) then 'The ' || "schedules"."parentType" || ' was archived.'
        when "schedules"."overlap" = 'skip'
        and "schedules"."lastRunAt" > :scheduledAt then 'The run of ' || "schedules"."lastRunAt" || ' was created before this one fired.'
        else 'The run of ' || (
          select
            "scheduledAt"
          from
            "runs" "previous"
          where
            (
              "schedules"."overlap" = + 'skip'
              and "previous"."organizationId" = "schedules"."organizationId"
              and "previous"."scheduleId" = "schedules"."id"
              and "previous"."scheduledAt" = "schedules"."lastRunAt"
              and (
                "previous"."status" = + 'pending'
                or (
                  "previous"."status" = + 'delivered'
                  and max(
                    coalesce(substr("previous"."checkAt", -24), ''),
                    strftime('%Y-%m-%dT%H:%M:%fZ', "previous"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
                  ) > :now
                )
              )
            )
        ) || ' was not finished.'
      end
    ) is not null
    and exists (
      select
        1
      from
        "runEndpoints"
      where
        "runEndpoints"."organizationId" = "schedules"."organizationId"
    ) then :checkAt
  end as "checkAt",
  null as "startedAt",
  null as "finishedAt",
  null as "message",
  null as "sessionId",
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
  )
on conflict do nothing;

-- agentScheduleRuns.insert.recording
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
  'run.created' as "type",
  :id as "resourceId",
  case "schedules"."parentType"
    when 'agent' then "schedules"."parentId"
  end as "parentId",
  "schedules"."name" as "resourceName",
  case "schedules"."parentType"
    when 'project' then "schedules"."parentId"
  end as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join "schedules" on (
    "schedules"."organizationId" = "apiKeys"."organizationId"
    and "schedules"."id" = + :scheduleId
  )
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
        inner join "runs" on (
          (
            "runs"."organizationId" = "schedules"."organizationId"
            and "runs"."scheduleId" = "schedules"."id"
          )
          and "runs"."scheduledAt" = + :scheduledAt
          and "runs"."status" <> 'skipped'
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
        )
    )
    and "schedules"."id" = + :scheduleId
  );

-- agentScheduleRuns.selectCreated
select
  "runs"."id",
  "runs"."scheduleId",
  "schedules"."name" as "scheduleName",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "agentId",
  "runs"."scheduledAt",
  "runs"."status",
  "runs"."failure",
  "runs"."attempts",
  "runs"."lastError",
  "runs"."lastAttempts",
  "runs"."nextAttemptAt",
  case
    when "runs"."status" = 'delivered'
    and "runs"."claimId" is not null then json_insert("runs"."claimedBy", '$.leaseExpiresAt', substr("runs"."checkAt", -24))
  end as "claim",
  "runs"."startedAt",
  "runs"."finishedAt",
  "runs"."message",
  "runs"."sessionId",
  "runs"."createdAt",
  "runs"."updatedAt"
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
            and "earlier"."idempotencyKey" = + :idempotencyKey
          )
      ),
      :scheduledAt
    )
    and (
      :idempotencyKey is null
      or "runs"."idempotencyKey" = + :idempotencyKey
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
    and ("agents"."id" is not null)
    and ("schedules"."id" is not null)
  );

-- allRuns
select
  "id" as "id",
  "scheduleId" as "scheduleId",
  "scheduleName" as "scheduleName",
  "projectId" as "projectId",
  "agentId" as "agentId",
  "scheduledAt" as "scheduledAt",
  "status" as "status",
  "failure" as "failure",
  "attempts" as "attempts",
  "lastError" as "lastError",
  "lastAttempts" as "lastAttempts",
  "nextAttemptAt" as "nextAttemptAt",
  "claim" as "claim",
  "startedAt" as "startedAt",
  "finishedAt" as "finishedAt",
  "message" as "message",
  "sessionId" as "sessionId",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "runs"."id" as "id",
      "runs"."scheduleId" as "scheduleId",
      "schedules"."name" as "scheduleName",
      case "runs"."parentType"
        when 'project' then "runs"."parentId"
      end as "projectId",
      case "runs"."parentType"
        when 'agent' then "runs"."parentId"
      end as "agentId",
      "runs"."scheduledAt" as "scheduledAt",
      "runs"."status" as "status",
      "runs"."failure" as "failure",
      "runs"."attempts" as "attempts",
      "runs"."lastError" as "lastError",
      "runs"."lastAttempts" as "lastAttempts",
      "runs"."nextAttemptAt" as "nextAttemptAt",
      case
        when "runs"."status" = 'delivered'
        and "runs"."claimId" is not null then json_insert("runs"."claimedBy", '$.leaseExpiresAt', substr("runs"."checkAt", -24))
      end as "claim",
      "runs"."startedAt" as "startedAt",
      "runs"."finishedAt" as "finishedAt",
      "runs"."message" as "message",
      "runs"."sessionId" as "sessionId",
      "runs"."createdAt" as "createdAt",
      "runs"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "runs"
        where
          (
            "runs"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
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
              "runs"."id" > :afterId
              and "runs"."id" < :beforeId
            )
          )
        order by
          "runs"."id" desc
        limit
          2500
      ) as "runs"
      left join "schedules" on (
        "schedules"."organizationId" = "runs"."organizationId"
        and "schedules"."id" = "runs"."scheduleId"
      )
      left join "projects" on (
        "runs"."parentType" = + 'project'
        and "projects"."organizationId" = "runs"."organizationId"
        and "projects"."id" = "runs"."parentId"
      )
      left join "agents" on (
        "runs"."parentType" = + 'agent'
        and "agents"."organizationId" = "runs"."organizationId"
        and "agents"."id" = "runs"."parentId"
      )
    where
      (
        (
          (
            :projectId is null
            or (
              "runs"."parentType" = 'project'
              and "runs"."parentId" = + :projectId
            )
          )
          and (
            :status is null
            or "runs"."status" = + :status
          )
          and (
            :scheduleId is null
            or "runs"."scheduleId" = + :scheduleId
          )
        )
        and (
          "schedules"."id" is not null
          and (
            "projects"."id" is not null
            or "agents"."id" is not null
          )
        )
      )
    union all
    select
      *
    from
      (
        select
          "runs"."id",
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
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          1
        from
          "runs"
        where
          (
            "runs"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
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
              "runs"."id" > :afterId
              and "runs"."id" < :beforeId
            )
          )
        order by
          "runs"."id" desc
        limit
          (
            (
              :status is not null
              or :projectId is not null
              or exists (
                select
                  1
                from
                  "deletions"
                where
                  "deletions"."organizationId" = (
                    select
                      "apiKeys"."organizationId"
                    from
                      "apiKeys"
                      left join "projects" "named" on (
                        "named"."organizationId" = "apiKeys"."organizationId"
                        and "named"."id" = + :projectId
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
                          :projectId is null
                          or "named"."id" is not null
                        )
                        and (
                          :projectId is not null
                          or "apiKeys"."projectIds" is null
                        )
                        and (
                          :projectId is null
                          or (
                            "apiKeys"."projectIds" is null
                            or "named"."id" in (
                              select
                                value
                              from
                                json_each("apiKeys"."projectIds")
                            )
                          )
                        )
                      )
                  )
                  and "deletions"."resourceType" in ('schedule', 'project', 'agent')
              )
            )
          )
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- claimOfAll.selectClaimable
select
  "id" as "id",
  "scheduleId" as "scheduleId",
  "name" as "name",
  "projectId" as "projectId",
  "agentId" as "agentId",
  "cron" as "cron",
  "runAt" as "runAt",
  "timezone" as "timezone",
  "scheduledAt" as "scheduledAt",
  "payload" as "payload",
  "attempts" as "attempts",
  "previous" as "previous",
  "leaseExpiresAt" as "leaseExpiresAt"
from
  (
    select
      *
    from
      (
        select
          "runs"."id" as "id",
          "runs"."scheduleId" as "scheduleId",
          "schedules"."name" as "name",
          case "runs"."parentType"
            when 'project' then "runs"."parentId"
          end as "projectId",
          case "runs"."parentType"
            when 'agent' then "runs"."parentId"
          end as "agentId",
          "schedules"."cron" as "cron",
          "schedules"."runAt" as "runAt",
          "schedules"."timezone" as "timezone",
          "runs"."scheduledAt" as "scheduledAt",
          "schedules"."payload" as "payload",
          "runs"."attempts" as "attempts",
          (
            select
              json_object(
                'id',
                "id",
                'scheduledAt',
                "scheduledAt",
                'status',
                "status",
                'failure',
                "failure",
                'message',
                "message",
                'sessionId',
                "sessionId"
              )
            from
              (
                select
                  *
                from
                  "runs" as "earlier"
                where
                  "earlier"."organizationId" = "runs"."organizationId"
                  and "earlier"."scheduleId" = "runs"."scheduleId"
                  and "earlier"."scheduledAt" < "runs"."scheduledAt"
                order by
                  "earlier"."scheduledAt" desc
                limit
                  100
              )
            where
              "status" <> 'skipped'
            limit
              1
          ) as "previous",
          min(
            :leaseExpiresAt,
            coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', :now, "schedules"."maxRunSeconds" || ' seconds'), :leaseExpiresAt)
          ) as "leaseExpiresAt"
        from
          (
            select
              *
            from
              "runs" indexed by "runsPending"
            where
              "runs"."organizationId" = (
                select
                  "apiKeys"."organizationId"
                from
                  "apiKeys"
                  left join "projects" "named" on (
                    "named"."organizationId" = "apiKeys"."organizationId"
                    and "named"."id" = + :projectId
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
                      :projectId is null
                      or "named"."id" is not null
                    )
                    and (
                      :projectId is not null
                      or "apiKeys"."projectIds" is null
                    )
                    and (
                      :projectId is null
                      or (
                        "apiKeys"."projectIds" is null
                        or "named"."id" in (
                          select
                            value
                          from
                            json_each("apiKeys"."projectIds")
                        )
                      )
                    )
                    and (
                      (
                        not exists (
                          select
                            1
                          from
                            "brakes"
                          where
                            "brakes"."kind" = 'claims'
                        )
                        and not exists (
                          select
                            1
                          from
                            "organizationBrakes"
                          where
                            "organizationBrakes"."organizationId" = "apiKeys"."organizationId"
                            and "organizationBrakes"."kind" = 'claims'
                        )
                      )
                    )
                  )
              )
              and "runs"."status" = 'pending'
            order by
              "runs"."id"
            limit
              100
          ) as "runs"
          cross join "schedules" on (
            "schedules"."organizationId" = "runs"."organizationId"
            and "schedules"."id" = "runs"."scheduleId"
          )
          left join "projects" on (
            "runs"."parentType" = + 'project'
            and "projects"."organizationId" = "runs"."organizationId"
            and "projects"."id" = "runs"."parentId"
          )
          left join "agents" on (
            "runs"."parentType" = + 'agent'
            and "agents"."organizationId" = "runs"."organizationId"
            and "agents"."id" = "runs"."parentId"
          )
        where
          (
            "runs"."checkAt" is null
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
            with recursive
              "start" ("organizationId", "after") as (
                select
                  (
                    select
                      "apiKeys"."organizationId"
                    from
                      "apiKeys"
                      left join "projects" "named" on (
                        "named"."organizationId" = "apiKeys"."organizationId"
                        and "named"."id" = + :projectId
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
                          :projectId is null
                          or "named"."id" is not null
                        )
                        and (
                          :projectId is not null
                          or "apiKeys"."projectIds" is null
                        )
                        and (
                          :projectId is null
                          or (
                            "apiKeys"."projectIds" is null
                            or "named"."id" in (
                              select
                                value
                              from
                                json_each("apiKeys"."projectIds")
                            )
                          )
                        )
                        and (
                          (
                            not exists (
                              select
                                1
                              from
                                "brakes"
                              where
                                "brakes"."kind" = 'claims'
                            )
                            and not exists (
                              select
                                1
                              from
                                "organizationBrakes"
                              where
                                "organizationBrakes"."organizationId" = "apiKeys"."organizationId"
                                and "organizationBrakes"."kind" = 'claims'
                            )
                          )
                        )
                      )
                  ),
                  (
                    select
                      "runs"."id"
                    from
                      "runs" indexed by "runsPending"
                    where
                      "runs"."organizationId" = (
                        select
                          "apiKeys"."organizationId"
                        from
                          "apiKeys"
                          left join "projects" "named" on (
                            "named"."organizationId" = "apiKeys"."organizationId"
                            and "named"."id" = + :projectId
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
                              :projectId is null
                              or "named"."id" is not null
                            )
                            and (
                              :projectId is not null
                              or "apiKeys"."projectIds" is null
                            )
                            and (
                              :projectId is null
                              or (
                                "apiKeys"."projectIds" is null
                                or "named"."id" in (
                                  select
                                    value
                                  from
                                    json_each("apiKeys"."projectIds")
                                )
                              )
                            )
                            and (
                              (
                                not exists (
                                  select
                                    1
                                  from
                                    "brakes"
                                  where
                                    "brakes"."kind" = 'claims'
                                )
                                and not exists (
                                  select
                                    1
                                  from
                                    "organizationBrakes"
                                  where
                                    "organizationBrakes"."organizationId" = "apiKeys"."organizationId"
                                    and "organizationBrakes"."kind" = 'claims'
                                )
                              )
                            )
                          )
                      )
                      and "runs"."status" = 'pending'
                    order by
                      "runs"."id"
                    limit
                      1
                    offset
                      99
                  )
              ),
              "busy" ("organizationId", "scheduleId") as (
                select
                  "organizationId",
                  ''
                from
                  "start"
                where
                  "after" is not null
                union all
                select
                  "busy"."organizationId",
                  (
                    select
                      "next"."scheduleId"
                    from
                      "runs" as "next" indexed by "runsToPull"
                    where
                      "next"."organizationId" = "busy"."organizationId"
                      and "next"."status" = 'pending'
                      and "next"."checkAt" is null
                      and "next"."scheduleId" >= (
                        select
                          "following"."id"
                        from
                          "schedules" as "following"
                        where
                          "following"."organizationId" = "busy"."organizationId"
                          and true
                          and "following"."id" > "busy"."scheduleId"
                        order by
                          "following"."id"
                        limit
                          1
                      )
                    order by
                      "next"."scheduleId"
                    limit
                      1
                  )
                from
                  "busy"
                where
                  "busy"."scheduleId" is not null
              ),
              "oldest" ("organizationId", "scheduleId", "id") as (
                select
                  "runs"."organizationId",
                  "runs"."scheduleId",
                  "runs"."id"
                from
                  "start"
                  cross join "busy"
                  cross join "schedules" on (
                    "schedules"."organizationId" = "busy"."organizationId"
                    and "schedules"."id" = "busy"."scheduleId"
                  )
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
                  cross join "runs" on "runs"."organizationId" = "busy"."organizationId"
                  and "runs"."id" = (
                    select
                      "next"."id"
                    from
                      "runs" as "next" indexed by "runsToPull"
                    where
                      "next"."organizationId" = "busy"."organizationId"
                      and "next"."scheduleId" = "busy"."scheduleId"
                      and "next"."status" = 'pending'
                      and "next"."checkAt" is null
                      and "next"."id" > "start"."after"
                    order by
                      "next"."id"
                    limit
                      1
                  )
                where
                  (
                    "projects"."id" is not null
                    or "agents"."id" is not null
                  )
                union all
                select
                  "runs"."organizationId",
                  "runs"."scheduleId",
                  "runs"."id"
                from
                  "oldest"
                  cross join "runs" on "runs"."organizationId" = "oldest"."organizationId"
                  and "runs"."id" = (
                    select
                      "next"."id"
                    from
                      "runs" as "next" indexed by "runsToPull"
                    where
                      "next"."organizationId" = "oldest"."organizationId"
                      and "next"."scheduleId" = "oldest"."scheduleId"
                      and "next"."status" = 'pending'
                      and "next"."checkAt" is null
                      and "next"."id" > "oldest"."id"
                    order by
                      "next"."id"
                    limit
                      1
                  )
                order by
                  3
                limit
                  + :rowLimit
              )
            select
              "runs"."id" as "id",
              "runs"."scheduleId" as "scheduleId",
              "schedules"."name" as "name",
              case "runs"."parentType"
                when 'project' then "runs"."parentId"
              end as "projectId",
              case "runs"."parentType"
                when 'agent' then "runs"."parentId"
              end as "agentId",
              "schedules"."cron" as "cron",
              "schedules"."runAt" as "runAt",
              "schedules"."timezone" as "timezone",
              "runs"."scheduledAt" as "scheduledAt",
              "schedules"."payload" as "payload",
              "runs"."attempts" as "attempts",
              (
                select
                  json_object(
                    'id',
                    "id",
                    'scheduledAt',
                    "scheduledAt",
                    'status',
                    "status",
                    'failure',
                    "failure",
                    'message',
                    "message",
                    'sessionId',
                    "sessionId"
                  )
                from
                  (
                    select
                      *
                    from
                      "runs" as "earlier"
                    where
                      "earlier"."organizationId" = "runs"."organizationId"
                      and "earlier"."scheduleId" = "runs"."scheduleId"
                      and "earlier"."scheduledAt" < "runs"."scheduledAt"
                    order by
                      "earlier"."scheduledAt" desc
                    limit
                      100
                  )
                where
                  "status" <> 'skipped'
                limit
                  1
              ) as "previous",
              min(
                :leaseExpiresAt,
                coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', :now, "schedules"."maxRunSeconds" || ' seconds'), :leaseExpiresAt)
              ) as "leaseExpiresAt"
            from
              "oldest"
              cross join "runs" on "runs"."organizationId" = "oldest"."organizationId"
              and "runs"."id" = "oldest"."id"
              cross join "schedules" on (
                "schedules"."organizationId" = "runs"."organizationId"
                and "schedules"."id" = "runs"."scheduleId"
              )
              left join "projects" on (
                "runs"."parentType" = + 'project'
                and "projects"."organizationId" = "runs"."organizationId"
                and "projects"."id" = "runs"."parentId"
              )
              left join "agents" on (
                "runs"."parentType" = + 'agent'
                and "agents"."organizationId" = "runs"."organizationId"
                and "agents"."id" = "runs"."parentId"
              )
          )
      )
    limit
      + :rowLimit
  );

-- claimOfAll.claim
update "runs"
set
  "status" = + 'delivered',
  "attempts" = "runs"."attempts" + 1,
  "claimId" = + :claimId,
  "claimedBy" = (
    select
      json_object('apiKeyId', "id", 'apiKeyName', "name") as "key"
    from
      "apiKeys"
    where
      "apiKeys"."hash" = + :caller.keyHash
  ),
  "checkAt" = (
    select
      min(
        :leaseExpiresAt,
        coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', :now, "schedules"."maxRunSeconds" || ' seconds'), :leaseExpiresAt)
      ) as "value"
    from
      "schedules"
    where
      (
        "schedules"."organizationId" = "runs"."organizationId"
        and "schedules"."id" = "runs"."scheduleId"
      )
  ),
  "startedAt" = + :now,
  "updatedAt" = + :now
where
  ("runs"."organizationId", "runs"."id") in (
    select
      *
    from
      (
        select
          "runs"."organizationId" as "organizationId",
          "runs"."id" as "id"
        from
          (
            select
              *
            from
              "runs" indexed by "runsPending"
            where
              "runs"."organizationId" = (
                select
                  "apiKeys"."organizationId"
                from
                  "apiKeys"
                  left join "projects" "named" on (
                    "named"."organizationId" = "apiKeys"."organizationId"
                    and "named"."id" = + :projectId
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
                      :projectId is null
                      or "named"."id" is not null
                    )
                    and (
                      :projectId is not null
                      or "apiKeys"."projectIds" is null
                    )
                    and (
                      :projectId is null
                      or (
                        "apiKeys"."projectIds" is null
                        or "named"."id" in (
                          select
                            value
                          from
                            json_each("apiKeys"."projectIds")
                        )
                      )
                    )
                    and (
                      (
                        not exists (
                          select
                            1
                          from
                            "brakes"
                          where
                            "brakes"."kind" = 'claims'
                        )
                        and not exists (
                          select
                            1
                          from
                            "organizationBrakes"
                          where
                            "organizationBrakes"."organizationId" = "apiKeys"."organizationId"
                            and "organizationBrakes"."kind" = 'claims'
                        )
                      )
                    )
                  )
              )
              and "runs"."status" = 'pending'
            order by
              "runs"."id"
            limit
              100
          ) as "runs"
          cross join "schedules" on (
            "schedules"."organizationId" = "runs"."organizationId"
            and "schedules"."id" = "runs"."scheduleId"
          )
          left join "projects" on (
            "runs"."parentType" = + 'project'
            and "projects"."organizationId" = "runs"."organizationId"
            and "projects"."id" = "runs"."parentId"
          )
          left join "agents" on (
            "runs"."parentType" = + 'agent'
            and "agents"."organizationId" = "runs"."organizationId"
            and "agents"."id" = "runs"."parentId"
          )
        where
          (
            "runs"."checkAt" is null
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
            with recursive
              "start" ("organizationId", "after") as (
                select
                  (
                    select
                      "apiKeys"."organizationId"
                    from
                      "apiKeys"
                      left join "projects" "named" on (
                        "named"."organizationId" = "apiKeys"."organizationId"
                        and "named"."id" = + :projectId
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
                          :projectId is null
                          or "named"."id" is not null
                        )
                        and (
                          :projectId is not null
                          or "apiKeys"."projectIds" is null
                        )
                        and (
                          :projectId is null
                          or (
                            "apiKeys"."projectIds" is null
                            or "named"."id" in (
                              select
                                value
                              from
                                json_each("apiKeys"."projectIds")
                            )
                          )
                        )
                        and (
                          (
                            not exists (
                              select
                                1
                              from
                                "brakes"
                              where
                                "brakes"."kind" = 'claims'
                            )
                            and not exists (
                              select
                                1
                              from
                                "organizationBrakes"
                              where
                                "organizationBrakes"."organizationId" = "apiKeys"."organizationId"
                                and "organizationBrakes"."kind" = 'claims'
                            )
                          )
                        )
                      )
                  ),
                  (
                    select
                      "runs"."id"
                    from
                      "runs" indexed by "runsPending"
                    where
                      "runs"."organizationId" = (
                        select
                          "apiKeys"."organizationId"
                        from
                          "apiKeys"
                          left join "projects" "named" on (
                            "named"."organizationId" = "apiKeys"."organizationId"
                            and "named"."id" = + :projectId
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
                              :projectId is null
                              or "named"."id" is not null
                            )
                            and (
                              :projectId is not null
                              or "apiKeys"."projectIds" is null
                            )
                            and (
                              :projectId is null
                              or (
                                "apiKeys"."projectIds" is null
                                or "named"."id" in (
                                  select
                                    value
                                  from
                                    json_each("apiKeys"."projectIds")
                                )
                              )
                            )
                            and (
                              (
                                not exists (
                                  select
                                    1
                                  from
                                    "brakes"
                                  where
                                    "brakes"."kind" = 'claims'
                                )
                                and not exists (
                                  select
                                    1
                                  from
                                    "organizationBrakes"
                                  where
                                    "organizationBrakes"."organizationId" = "apiKeys"."organizationId"
                                    and "organizationBrakes"."kind" = 'claims'
                                )
                              )
                            )
                          )
                      )
                      and "runs"."status" = 'pending'
                    order by
                      "runs"."id"
                    limit
                      1
                    offset
                      99
                  )
              ),
              "busy" ("organizationId", "scheduleId") as (
                select
                  "organizationId",
                  ''
                from
                  "start"
                where
                  "after" is not null
                union all
                select
                  "busy"."organizationId",
                  (
                    select
                      "next"."scheduleId"
                    from
                      "runs" as "next" indexed by "runsToPull"
                    where
                      "next"."organizationId" = "busy"."organizationId"
                      and "next"."status" = 'pending'
                      and "next"."checkAt" is null
                      and "next"."scheduleId" >= (
                        select
                          "following"."id"
                        from
                          "schedules" as "following"
                        where
                          "following"."organizationId" = "busy"."organizationId"
                          and true
                          and "following"."id" > "busy"."scheduleId"
                        order by
                          "following"."id"
                        limit
                          1
                      )
                    order by
                      "next"."scheduleId"
                    limit
                      1
                  )
                from
                  "busy"
                where
                  "busy"."scheduleId" is not null
              ),
              "oldest" ("organizationId", "scheduleId", "id") as (
                select
                  "runs"."organizationId",
                  "runs"."scheduleId",
                  "runs"."id"
                from
                  "start"
                  cross join "busy"
                  cross join "schedules" on (
                    "schedules"."organizationId" = "busy"."organizationId"
                    and "schedules"."id" = "busy"."scheduleId"
                  )
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
                  cross join "runs" on "runs"."organizationId" = "busy"."organizationId"
                  and "runs"."id" = (
                    select
                      "next"."id"
                    from
                      "runs" as "next" indexed by "runsToPull"
                    where
                      "next"."organizationId" = "busy"."organizationId"
                      and "next"."scheduleId" = "busy"."scheduleId"
                      and "next"."status" = 'pending'
                      and "next"."checkAt" is null
                      and "next"."id" > "start"."after"
                    order by
                      "next"."id"
                    limit
                      1
                  )
                where
                  (
                    "projects"."id" is not null
                    or "agents"."id" is not null
                  )
                union all
                select
                  "runs"."organizationId",
                  "runs"."scheduleId",
                  "runs"."id"
                from
                  "oldest"
                  cross join "runs" on "runs"."organizationId" = "oldest"."organizationId"
                  and "runs"."id" = (
                    select
                      "next"."id"
                    from
                      "runs" as "next" indexed by "runsToPull"
                    where
                      "next"."organizationId" = "oldest"."organizationId"
                      and "next"."scheduleId" = "oldest"."scheduleId"
                      and "next"."status" = 'pending'
                      and "next"."checkAt" is null
                      and "next"."id" > "oldest"."id"
                    order by
                      "next"."id"
                    limit
                      1
                  )
                order by
                  3
                limit
                  + :rowLimit
              )
            select
              "runs"."organizationId" as "organizationId",
              "runs"."id" as "id"
            from
              "oldest"
              cross join "runs" on "runs"."organizationId" = "oldest"."organizationId"
              and "runs"."id" = "oldest"."id"
              cross join "schedules" on (
                "schedules"."organizationId" = "runs"."organizationId"
                and "schedules"."id" = "runs"."scheduleId"
              )
              left join "projects" on (
                "runs"."parentType" = + 'project'
                and "projects"."organizationId" = "runs"."organizationId"
                and "projects"."id" = "runs"."parentId"
              )
              left join "agents" on (
                "runs"."parentType" = + 'agent'
                and "agents"."organizationId" = "runs"."organizationId"
                and "agents"."id" = "runs"."parentId"
              )
          )
      )
    limit
      + :rowLimit
  );

-- claimOfAll.claim.recording
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
  ) + row_number() over () - 1 as "sequence",
  substr(:event.id, 1, 32) || printf('%04x', 0 + row_number() over () - 1) as "id",
  'run.claimed' as "type",
  "runs"."id" as "resourceId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "parentId",
  "schedules"."name" as "resourceName",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join "runs" on ("runs"."organizationId", "runs"."id") in (
    select
      *
    from
      (
        select
          "runs"."organizationId" as "organizationId",
          "runs"."id" as "id"
        from
          (
            select
              *
            from
              "runs" indexed by "runsPending"
            where
              "runs"."organizationId" = (
                select
                  "apiKeys"."organizationId"
                from
                  "apiKeys"
                  left join "projects" "named" on (
                    "named"."organizationId" = "apiKeys"."organizationId"
                    and "named"."id" = + :projectId
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
                      :projectId is null
                      or "named"."id" is not null
                    )
                    and (
                      :projectId is not null
                      or "apiKeys"."projectIds" is null
                    )
                    and (
                      :projectId is null
                      or (
                        "apiKeys"."projectIds" is null
                        or "named"."id" in (
                          select
                            value
                          from
                            json_each("apiKeys"."projectIds")
                        )
                      )
                    )
                    and (
                      (
                        not exists (
                          select
                            1
                          from
                            "brakes"
                          where
                            "brakes"."kind" = 'claims'
                        )
                        and not exists (
                          select
                            1
                          from
                            "organizationBrakes"
                          where
                            "organizationBrakes"."organizationId" = "apiKeys"."organizationId"
                            and "organizationBrakes"."kind" = 'claims'
                        )
                      )
                    )
                  )
              )
              and "runs"."status" = 'pending'
            order by
              "runs"."id"
            limit
              100
          ) as "runs"
          cross join "schedules" on (
            "schedules"."organizationId" = "runs"."organizationId"
            and "schedules"."id" = "runs"."scheduleId"
          )
          left join "projects" on (
            "runs"."parentType" = + 'project'
            and "projects"."organizationId" = "runs"."organizationId"
            and "projects"."id" = "runs"."parentId"
          )
          left join "agents" on (
            "runs"."parentType" = + 'agent'
            and "agents"."organizationId" = "runs"."organizationId"
            and "agents"."id" = "runs"."parentId"
          )
        where
          (
            "runs"."checkAt" is null
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
            with recursive
              "start" ("organizationId", "after") as (
                select
                  (
                    select
                      "apiKeys"."organizationId"
                    from
                      "apiKeys"
                      left join "projects" "named" on (
                        "named"."organizationId" = "apiKeys"."organizationId"
                        and "named"."id" = + :projectId
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
                          :projectId is null
                          or "named"."id" is not null
                        )
                        and (
                          :projectId is not null
                          or "apiKeys"."projectIds" is null
                        )
                        and (
                          :projectId is null
                          or (
                            "apiKeys"."projectIds" is null
                            or "named"."id" in (
                              select
                                value
                              from
                                json_each("apiKeys"."projectIds")
                            )
                          )
                        )
                        and (
                          (
                            not exists (
                              select
                                1
                              from
                                "brakes"
                              where
                                "brakes"."kind" = 'claims'
                            )
                            and not exists (
                              select
                                1
                              from
                                "organizationBrakes"
                              where
                                "organizationBrakes"."organizationId" = "apiKeys"."organizationId"
                                and "organizationBrakes"."kind" = 'claims'
                            )
                          )
                        )
                      )
                  ),
                  (
                    select
                      "runs"."id"
                    from
                      "runs" indexed by "runsPending"
                    where
                      "runs"."organizationId" = (
                        select
                          "apiKeys"."organizationId"
                        from
                          "apiKeys"
                          left join "projects" "named" on (
                            "named"."organizationId" = "apiKeys"."organizationId"
                            and "named"."id" = + :projectId
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
                              :projectId is null
                              or "named"."id" is not null
                            )
                            and (
                              :projectId is not null
                              or "apiKeys"."projectIds" is null
                            )
                            and (
                              :projectId is null
                              or (
                                "apiKeys"."projectIds" is null
                                or "named"."id" in (
                                  select
                                    value
                                  from
                                    json_each("apiKeys"."projectIds")
                                )
                              )
                            )
                            and (
                              (
                                not exists (
                                  select
                                    1
                                  from
                                    "brakes"
                                  where
                                    "brakes"."kind" = 'claims'
                                )
                                and not exists (
                                  select
                                    1
                                  from
                                    "organizationBrakes"
                                  where
                                    "organizationBrakes"."organizationId" = "apiKeys"."organizationId"
                                    and "organizationBrakes"."kind" = 'claims'
                                )
                              )
                            )
                          )
                      )
                      and "runs"."status" = 'pending'
                    order by
                      "runs"."id"
                    limit
                      1
                    offset
                      99
                  )
              ),
              "busy" ("organizationId", "scheduleId") as (
                select
                  "organizationId",
                  ''
                from
                  "start"
                where
                  "after" is not null
                union all
                select
                  "busy"."organizationId",
                  (
                    select
                      "next"."scheduleId"
                    from
                      "runs" as "next" indexed by "runsToPull"
                    where
                      "next"."organizationId" = "busy"."organizationId"
                      and "next"."status" = 'pending'
                      and "next"."checkAt" is null
                      and "next"."scheduleId" >= (
                        select
                          "following"."id"
                        from
                          "schedules" as "following"
                        where
                          "following"."organizationId" = "busy"."organizationId"
                          and true
                          and "following"."id" > "busy"."scheduleId"
                        order by
                          "following"."id"
                        limit
                          1
                      )
                    order by
                      "next"."scheduleId"
                    limit
                      1
                  )
                from
                  "busy"
                where
                  "busy"."scheduleId" is not null
              ),
              "oldest" ("organizationId", "scheduleId", "id") as (
                select
                  "runs"."organizationId",
                  "runs"."scheduleId",
                  "runs"."id"
                from
                  "start"
                  cross join "busy"
                  cross join "schedules" on (
                    "schedules"."organizationId" = "busy"."organizationId"
                    and "schedules"."id" = "busy"."scheduleId"
                  )
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
                  cross join "runs" on "runs"."organizationId" = "busy"."organizationId"
                  and "runs"."id" = (
                    select
                      "next"."id"
                    from
                      "runs" as "next" indexed by "runsToPull"
                    where
                      "next"."organizationId" = "busy"."organizationId"
                      and "next"."scheduleId" = "busy"."scheduleId"
                      and "next"."status" = 'pending'
                      and "next"."checkAt" is null
                      and "next"."id" > "start"."after"
                    order by
                      "next"."id"
                    limit
                      1
                  )
                where
                  (
                    "projects"."id" is not null
                    or "agents"."id" is not null
                  )
                union all
                select
                  "runs"."organizationId",
                  "runs"."scheduleId",
                  "runs"."id"
                from
                  "oldest"
                  cross join "runs" on "runs"."organizationId" = "oldest"."organizationId"
                  and "runs"."id" = (
                    select
                      "next"."id"
                    from
                      "runs" as "next" indexed by "runsToPull"
                    where
                      "next"."organizationId" = "oldest"."organizationId"
                      and "next"."scheduleId" = "oldest"."scheduleId"
                      and "next"."status" = 'pending'
                      and "next"."checkAt" is null
                      and "next"."id" > "oldest"."id"
                    order by
                      "next"."id"
                    limit
                      1
                  )
                order by
                  3
                limit
                  + :rowLimit
              )
            select
              "runs"."organizationId" as "organizationId",
              "runs"."id" as "id"
            from
              "oldest"
              cross join "runs" on "runs"."organizationId" = "oldest"."organizationId"
              and "runs"."id" = "oldest"."id"
              cross join "schedules" on (
                "schedules"."organizationId" = "runs"."organizationId"
                and "schedules"."id" = "runs"."scheduleId"
              )
              left join "projects" on (
                "runs"."parentType" = + 'project'
                and "projects"."organizationId" = "runs"."organizationId"
                and "projects"."id" = "runs"."parentId"
              )
              left join "agents" on (
                "runs"."parentType" = + 'agent'
                and "agents"."organizationId" = "runs"."organizationId"
                and "agents"."id" = "runs"."parentId"
              )
          )
      )
    limit
      + :rowLimit
  )
  inner join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
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

-- claimOfProject.selectClaimable
select
  "id" as "id",
  "scheduleId" as "scheduleId",
  "name" as "name",
  "projectId" as "projectId",
  "agentId" as "agentId",
  "cron" as "cron",
  "runAt" as "runAt",
  "timezone" as "timezone",
  "scheduledAt" as "scheduledAt",
  "payload" as "payload",
  "attempts" as "attempts",
  "previous" as "previous",
  "leaseExpiresAt" as "leaseExpiresAt"
from
  (
    with recursive
      "start" ("organizationId", "after") as (
        select
          (
            select
              "apiKeys"."organizationId"
            from
              "apiKeys"
              left join "projects" "named" on (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = + :projectId
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
                  :projectId is null
                  or "named"."id" is not null
                )
                and (
                  :projectId is not null
                  or "apiKeys"."projectIds" is null
                )
                and (
                  :projectId is null
                  or (
                    "apiKeys"."projectIds" is null
                    or "named"."id" in (
                      select
                        value
                      from
                        json_each("apiKeys"."projectIds")
                    )
                  )
                )
                and (
                  (
                    not exists (
                      select
                        1
                      from
                        "brakes"
                      where
                        "brakes"."kind" = 'claims'
                    )
                    and not exists (
                      select
                        1
                      from
                        "organizationBrakes"
                      where
                        "organizationBrakes"."organizationId" = "apiKeys"."organizationId"
                        and "organizationBrakes"."kind" = 'claims'
                    )
                  )
                )
              )
          ),
          ''
      ),
      "busy" ("organizationId", "scheduleId") as (
        select
          "organizationId",
          ''
        from
          "start"
        where
          "after" is not null
        union all
        select
          "busy"."organizationId",
          (
            select
              "next"."scheduleId"
            from
              "runs" as "next" indexed by "runsToPull"
            where
              "next"."organizationId" = "busy"."organizationId"
              and "next"."status" = 'pending'
              and "next"."checkAt" is null
              and "next"."scheduleId" >= (
                select
                  "following"."id"
                from
                  "schedules" as "following" indexed by "schedulesByParent"
                where
                  "following"."organizationId" = "busy"."organizationId"
                  and (
                    "following"."parentType" = 'project'
                    and "following"."parentId" = + :projectId
                  )
                  and "following"."id" > "busy"."scheduleId"
                order by
                  "following"."id"
                limit
                  1
              )
            order by
              "next"."scheduleId"
            limit
              1
          )
        from
          "busy"
        where
          "busy"."scheduleId" is not null
      ),
      "oldest" ("organizationId", "scheduleId", "id") as (
        select
          "runs"."organizationId",
          "runs"."scheduleId",
          "runs"."id"
        from
          "start"
          cross join "busy"
          cross join "schedules" on (
            "schedules"."organizationId" = "busy"."organizationId"
            and "schedules"."id" = "busy"."scheduleId"
          )
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
          cross join "runs" on "runs"."organizationId" = "busy"."organizationId"
          and "runs"."id" = (
            select
              "next"."id"
            from
              "runs" as "next" indexed by "runsToPull"
            where
              "next"."organizationId" = "busy"."organizationId"
              and "next"."scheduleId" = "busy"."scheduleId"
              and "next"."status" = 'pending'
              and "next"."checkAt" is null
              and "next"."id" > "start"."after"
            order by
              "next"."id"
            limit
              1
          )
        where
          (
            (
              "projects"."id" is not null
              or "agents"."id" is not null
            )
            and (
              "schedules"."parentType" = 'project'
              and "schedules"."parentId" = + :projectId
            )
          )
        union all
        select
          "runs"."organizationId",
          "runs"."scheduleId",
          "runs"."id"
        from
          "oldest"
          cross join "runs" on "runs"."organizationId" = "oldest"."organizationId"
          and "runs"."id" = (
            select
              "next"."id"
            from
              "runs" as "next" indexed by "runsToPull"
            where
              "next"."organizationId" = "oldest"."organizationId"
              and "next"."scheduleId" = "oldest"."scheduleId"
              and "next"."status" = 'pending'
              and "next"."checkAt" is null
              and "next"."id" > "oldest"."id"
            order by
              "next"."id"
            limit
              1
          )
        order by
          3
        limit
          + :rowLimit
      )
    select
      "runs"."id" as "id",
      "runs"."scheduleId" as "scheduleId",
      "schedules"."name" as "name",
      case "runs"."parentType"
        when 'project' then "runs"."parentId"
      end as "projectId",
      case "runs"."parentType"
        when 'agent' then "runs"."parentId"
      end as "agentId",
      "schedules"."cron" as "cron",
      "schedules"."runAt" as "runAt",
      "schedules"."timezone" as "timezone",
      "runs"."scheduledAt" as "scheduledAt",
      "schedules"."payload" as "payload",
      "runs"."attempts" as "attempts",
      (
        select
          json_object(
            'id',
            "id",
            'scheduledAt',
            "scheduledAt",
            'status',
            "status",
            'failure',
            "failure",
            'message',
            "message",
            'sessionId',
            "sessionId"
          )
        from
          (
            select
              *
            from
              "runs" as "earlier"
            where
              "earlier"."organizationId" = "runs"."organizationId"
              and "earlier"."scheduleId" = "runs"."scheduleId"
              and "earlier"."scheduledAt" < "runs"."scheduledAt"
            order by
              "earlier"."scheduledAt" desc
            limit
              100
          )
        where
          "status" <> 'skipped'
        limit
          1
      ) as "previous",
      min(
        :leaseExpiresAt,
        coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', :now, "schedules"."maxRunSeconds" || ' seconds'), :leaseExpiresAt)
      ) as "leaseExpiresAt"
    from
      "oldest"
      cross join "runs" on "runs"."organizationId" = "oldest"."organizationId"
      and "runs"."id" = "oldest"."id"
      cross join "schedules" on (
        "schedules"."organizationId" = "runs"."organizationId"
        and "schedules"."id" = "runs"."scheduleId"
      )
      left join "projects" on (
        "runs"."parentType" = + 'project'
        and "projects"."organizationId" = "runs"."organizationId"
        and "projects"."id" = "runs"."parentId"
      )
      left join "agents" on (
        "runs"."parentType" = + 'agent'
        and "agents"."organizationId" = "runs"."organizationId"
        and "agents"."id" = "runs"."parentId"
      )
  );

-- claimOfProject.claim
update "runs"
set
  "status" = + 'delivered',
  "attempts" = "runs"."attempts" + 1,
  "claimId" = + :claimId,
  "claimedBy" = (
    select
      json_object('apiKeyId', "id", 'apiKeyName', "name") as "key"
    from
      "apiKeys"
    where
      "apiKeys"."hash" = + :caller.keyHash
  ),
  "checkAt" = (
    select
      min(
        :leaseExpiresAt,
        coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', :now, "schedules"."maxRunSeconds" || ' seconds'), :leaseExpiresAt)
      ) as "value"
    from
      "schedules"
    where
      (
        "schedules"."organizationId" = "runs"."organizationId"
        and "schedules"."id" = "runs"."scheduleId"
      )
  ),
  "startedAt" = + :now,
  "updatedAt" = + :now
where
  ("runs"."organizationId", "runs"."id") in (
    with recursive
      "start" ("organizationId", "after") as (
        select
          (
            select
              "apiKeys"."organizationId"
            from
              "apiKeys"
              left join "projects" "named" on (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = + :projectId
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
                  :projectId is null
                  or "named"."id" is not null
                )
                and (
                  :projectId is not null
                  or "apiKeys"."projectIds" is null
                )
                and (
                  :projectId is null
                  or (
                    "apiKeys"."projectIds" is null
                    or "named"."id" in (
                      select
                        value
                      from
                        json_each("apiKeys"."projectIds")
                    )
                  )
                )
                and (
                  (
                    not exists (
                      select
                        1
                      from
                        "brakes"
                      where
                        "brakes"."kind" = 'claims'
                    )
                    and not exists (
                      select
                        1
                      from
                        "organizationBrakes"
                      where
                        "organizationBrakes"."organizationId" = "apiKeys"."organizationId"
                        and "organizationBrakes"."kind" = 'claims'
                    )
                  )
                )
              )
          ),
          ''
      ),
      "busy" ("organizationId", "scheduleId") as (
        select
          "organizationId",
          ''
        from
          "start"
        where
          "after" is not null
        union all
        select
          "busy"."organizationId",
          (
            select
              "next"."scheduleId"
            from
              "runs" as "next" indexed by "runsToPull"
            where
              "next"."organizationId" = "busy"."organizationId"
              and "next"."status" = 'pending'
              and "next"."checkAt" is null
              and "next"."scheduleId" >= (
                select
                  "following"."id"
                from
                  "schedules" as "following" indexed by "schedulesByParent"
                where
                  "following"."organizationId" = "busy"."organizationId"
                  and (
                    "following"."parentType" = 'project'
                    and "following"."parentId" = + :projectId
                  )
                  and "following"."id" > "busy"."scheduleId"
                order by
                  "following"."id"
                limit
                  1
              )
            order by
              "next"."scheduleId"
            limit
              1
          )
        from
          "busy"
        where
          "busy"."scheduleId" is not null
      ),
      "oldest" ("organizationId", "scheduleId", "id") as (
        select
          "runs"."organizationId",
          "runs"."scheduleId",
          "runs"."id"
        from
          "start"
          cross join "busy"
          cross join "schedules" on (
            "schedules"."organizationId" = "busy"."organizationId"
            and "schedules"."id" = "busy"."scheduleId"
          )
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
          cross join "runs" on "runs"."organizationId" = "busy"."organizationId"
          and "runs"."id" = (
            select
              "next"."id"
            from
              "runs" as "next" indexed by "runsToPull"
            where
              "next"."organizationId" = "busy"."organizationId"
              and "next"."scheduleId" = "busy"."scheduleId"
              and "next"."status" = 'pending'
              and "next"."checkAt" is null
              and "next"."id" > "start"."after"
            order by
              "next"."id"
            limit
              1
          )
        where
          (
            (
              "projects"."id" is not null
              or "agents"."id" is not null
            )
            and (
              "schedules"."parentType" = 'project'
              and "schedules"."parentId" = + :projectId
            )
          )
        union all
        select
          "runs"."organizationId",
          "runs"."scheduleId",
          "runs"."id"
        from
          "oldest"
          cross join "runs" on "runs"."organizationId" = "oldest"."organizationId"
          and "runs"."id" = (
            select
              "next"."id"
            from
              "runs" as "next" indexed by "runsToPull"
            where
              "next"."organizationId" = "oldest"."organizationId"
              and "next"."scheduleId" = "oldest"."scheduleId"
              and "next"."status" = 'pending'
              and "next"."checkAt" is null
              and "next"."id" > "oldest"."id"
            order by
              "next"."id"
            limit
              1
          )
        order by
          3
        limit
          + :rowLimit
      )
    select
      "runs"."organizationId" as "organizationId",
      "runs"."id" as "id"
    from
      "oldest"
      cross join "runs" on "runs"."organizationId" = "oldest"."organizationId"
      and "runs"."id" = "oldest"."id"
      cross join "schedules" on (
        "schedules"."organizationId" = "runs"."organizationId"
        and "schedules"."id" = "runs"."scheduleId"
      )
      left join "projects" on (
        "runs"."parentType" = + 'project'
        and "projects"."organizationId" = "runs"."organizationId"
        and "projects"."id" = "runs"."parentId"
      )
      left join "agents" on (
        "runs"."parentType" = + 'agent'
        and "agents"."organizationId" = "runs"."organizationId"
        and "agents"."id" = "runs"."parentId"
      )
  );

-- claimOfProject.claim.recording
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
  ) + row_number() over () - 1 as "sequence",
  substr(:event.id, 1, 32) || printf('%04x', 0 + row_number() over () - 1) as "id",
  'run.claimed' as "type",
  "runs"."id" as "resourceId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "parentId",
  "schedules"."name" as "resourceName",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join "runs" on ("runs"."organizationId", "runs"."id") in (
    with recursive
      "start" ("organizationId", "after") as (
        select
          (
            select
              "apiKeys"."organizationId"
            from
              "apiKeys"
              left join "projects" "named" on (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = + :projectId
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
                  :projectId is null
                  or "named"."id" is not null
                )
                and (
                  :projectId is not null
                  or "apiKeys"."projectIds" is null
                )
                and (
                  :projectId is null
                  or (
                    "apiKeys"."projectIds" is null
                    or "named"."id" in (
                      select
                        value
                      from
                        json_each("apiKeys"."projectIds")
                    )
                  )
                )
                and (
                  (
                    not exists (
                      select
                        1
                      from
                        "brakes"
                      where
                        "brakes"."kind" = 'claims'
                    )
                    and not exists (
                      select
                        1
                      from
                        "organizationBrakes"
                      where
                        "organizationBrakes"."organizationId" = "apiKeys"."organizationId"
                        and "organizationBrakes"."kind" = 'claims'
                    )
                  )
                )
              )
          ),
          ''
      ),
      "busy" ("organizationId", "scheduleId") as (
        select
          "organizationId",
          ''
        from
          "start"
        where
          "after" is not null
        union all
        select
          "busy"."organizationId",
          (
            select
              "next"."scheduleId"
            from
              "runs" as "next" indexed by "runsToPull"
            where
              "next"."organizationId" = "busy"."organizationId"
              and "next"."status" = 'pending'
              and "next"."checkAt" is null
              and "next"."scheduleId" >= (
                select
                  "following"."id"
                from
                  "schedules" as "following" indexed by "schedulesByParent"
                where
                  "following"."organizationId" = "busy"."organizationId"
                  and (
                    "following"."parentType" = 'project'
                    and "following"."parentId" = + :projectId
                  )
                  and "following"."id" > "busy"."scheduleId"
                order by
                  "following"."id"
                limit
                  1
              )
            order by
              "next"."scheduleId"
            limit
              1
          )
        from
          "busy"
        where
          "busy"."scheduleId" is not null
      ),
      "oldest" ("organizationId", "scheduleId", "id") as (
        select
          "runs"."organizationId",
          "runs"."scheduleId",
          "runs"."id"
        from
          "start"
          cross join "busy"
          cross join "schedules" on (
            "schedules"."organizationId" = "busy"."organizationId"
            and "schedules"."id" = "busy"."scheduleId"
          )
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
          cross join "runs" on "runs"."organizationId" = "busy"."organizationId"
          and "runs"."id" = (
            select
              "next"."id"
            from
              "runs" as "next" indexed by "runsToPull"
            where
              "next"."organizationId" = "busy"."organizationId"
              and "next"."scheduleId" = "busy"."scheduleId"
              and "next"."status" = 'pending'
              and "next"."checkAt" is null
              and "next"."id" > "start"."after"
            order by
              "next"."id"
            limit
              1
          )
        where
          (
            (
              "projects"."id" is not null
              or "agents"."id" is not null
            )
            and (
              "schedules"."parentType" = 'project'
              and "schedules"."parentId" = + :projectId
            )
          )
        union all
        select
          "runs"."organizationId",
          "runs"."scheduleId",
          "runs"."id"
        from
          "oldest"
          cross join "runs" on "runs"."organizationId" = "oldest"."organizationId"
          and "runs"."id" = (
            select
              "next"."id"
            from
              "runs" as "next" indexed by "runsToPull"
            where
              "next"."organizationId" = "oldest"."organizationId"
              and "next"."scheduleId" = "oldest"."scheduleId"
              and "next"."status" = 'pending'
              and "next"."checkAt" is null
              and "next"."id" > "oldest"."id"
            order by
              "next"."id"
            limit
              1
          )
        order by
          3
        limit
          + :rowLimit
      )
    select
      "runs"."organizationId" as "organizationId",
      "runs"."id" as "id"
    from
      "oldest"
      cross join "runs" on "runs"."organizationId" = "oldest"."organizationId"
      and "runs"."id" = "oldest"."id"
      cross join "schedules" on (
        "schedules"."organizationId" = "runs"."organizationId"
        and "schedules"."id" = "runs"."scheduleId"
      )
      left join "projects" on (
        "runs"."parentType" = + 'project'
        and "projects"."organizationId" = "runs"."organizationId"
        and "projects"."id" = "runs"."parentId"
      )
      left join "agents" on (
        "runs"."parentType" = + 'agent'
        and "agents"."organizationId" = "runs"."organizationId"
        and "agents"."id" = "runs"."parentId"
      )
  )
  inner join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
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

-- claimable.check
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
  :projectId is null
  or "named"."id" is not null as "projectExists",
  :projectId is not null
  or "apiKeys"."projectIds" is null as "isUnrestricted",
  :projectId is null
  or (
    "apiKeys"."projectIds" is null
    or "named"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible",
  (
    not exists (
      select
        1
      from
        "brakes"
      where
        "brakes"."kind" = 'claims'
    )
    and not exists (
      select
        1
      from
        "organizationBrakes"
      where
        "organizationBrakes"."organizationId" = "apiKeys"."organizationId"
        and "organizationBrakes"."kind" = 'claims'
    )
  ) as "areClaimsOn"
from
  "apiKeys"
  left join "projects" "named" on (
    "named"."organizationId" = "apiKeys"."organizationId"
    and "named"."id" = + :projectId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- completable.check
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
    "runs"."id" is not null
    and (
      "schedules"."id" is not null
      and (
        "projects"."id" is not null
        or "agents"."id" is not null
      )
    )
  ) as "runExists",
  :sessionId is null
  or "runs"."status" in ('succeeded', 'failed')
  or (
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
    and (
      "apiKeys"."projectIds" is null
      or "sessions"."projectId" in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
  ) as "sessionExists",
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
  ) as "isAccessible",
  :claimId is not null
  or "runs"."claimId" is null
  or "runs"."status" = 'pending' as "namesClaim",
  :claimId is null
  or "runs"."claimId" is + :claimId as "isOfClaim",
  (
    "runs"."status" in ('pending', 'delivered')
    or "runs"."status" = + :outcome
    and coalesce("runs"."failure", 'task') = 'task'
  ) as "hasNoOtherOutcome",
  not (
    "runs"."status" = 'delivered'
    and "runs"."checkAt" is not null
    and coalesce(
      max(
        coalesce(substr("runs"."checkAt", -24), ''),
        strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
      ) <= :now,
      false
    )
  ) as "isInTime",
  not (
    "runs"."status" = 'delivered'
    and coalesce(
      "schedules"."overlap" = 'skip'
      and "schedules"."lastRunAt" > "runs"."scheduledAt"
      and coalesce(
        substr("runs"."checkAt", -24),
        strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
      ) <= :now,
      false
    )
  ) as "isNotSuperseded"
from
  "apiKeys"
  left join "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" = + :runId
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = + 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = + 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
  )
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- complete
update "runs"
set
  "status" = + :outcome,
  "failure" = case :outcome
    when 'failed' then 'task'
  end,
  "attempts" = max(
    "runs"."attempts",
    "runs"."status" = 'pending'
    and "runs"."checkAt" is not null
  ),
  "nextAttemptAt" = + null,
  "claimId" = + :claimId,
  "checkAt" = + null,
  "startedAt" = coalesce("runs"."startedAt", :now),
  "finishedAt" = + :now,
  "message" = + :message,
  "sessionId" = + :sessionId,
  "updatedAt" = + :now
where
  (
    "runs"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "runs" on (
          "runs"."organizationId" = "apiKeys"."organizationId"
          and "runs"."id" = + :runId
        )
        left join "schedules" on (
          "schedules"."organizationId" = "runs"."organizationId"
          and "schedules"."id" = "runs"."scheduleId"
        )
        left join "projects" on (
          "runs"."parentType" = + 'project'
          and "projects"."organizationId" = "runs"."organizationId"
          and "projects"."id" = "runs"."parentId"
        )
        left join "agents" on (
          "runs"."parentType" = + 'agent'
          and "agents"."organizationId" = "runs"."organizationId"
          and "agents"."id" = "runs"."parentId"
        )
        left join "sessions" on (
          "sessions"."organizationId" = "apiKeys"."organizationId"
          and "sessions"."id" = + :sessionId
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
            :sessionId is null
            or "runs"."status" in ('succeeded', 'failed')
            or (
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
              and (
                "apiKeys"."projectIds" is null
                or "sessions"."projectId" in (
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
          and (
            :claimId is not null
            or "runs"."claimId" is null
            or "runs"."status" = 'pending'
          )
          and (
            :claimId is null
            or "runs"."claimId" is + :claimId
          )
          and (
            (
              "runs"."status" in ('pending', 'delivered')
              or "runs"."status" = + :outcome
              and coalesce("runs"."failure", 'task') = 'task'
            )
          )
          and (
            not (
              "runs"."status" = 'delivered'
              and "runs"."checkAt" is not null
              and coalesce(
                max(
                  coalesce(substr("runs"."checkAt", -24), ''),
                  strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
                ) <= :now,
                false
              )
            )
          )
          and (
            not (
              "runs"."status" = 'delivered'
              and coalesce(
                "schedules"."overlap" = 'skip'
                and "schedules"."lastRunAt" > "runs"."scheduledAt"
                and coalesce(
                  substr("runs"."checkAt", -24),
                  strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
                ) <= :now,
                false
              )
            )
          )
        )
    )
    and "runs"."id" = + :runId
    and "runs"."status" in ('pending', 'delivered')
  );

-- complete.recording
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
  'run.' || :outcome as "type",
  "runs"."id" as "resourceId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "parentId",
  "schedules"."name" as "resourceName",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" = + :runId
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = + 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = + 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
  )
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
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
        :sessionId is null
        or "runs"."status" in ('succeeded', 'failed')
        or (
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
          and (
            "apiKeys"."projectIds" is null
            or "sessions"."projectId" in (
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
      and (
        :claimId is not null
        or "runs"."claimId" is null
        or "runs"."status" = 'pending'
      )
      and (
        :claimId is null
        or "runs"."claimId" is + :claimId
      )
      and (
        (
          "runs"."status" in ('pending', 'delivered')
          or "runs"."status" = + :outcome
          and coalesce("runs"."failure", 'task') = 'task'
        )
      )
      and (
        not (
          "runs"."status" = 'delivered'
          and "runs"."checkAt" is not null
          and coalesce(
            max(
              coalesce(substr("runs"."checkAt", -24), ''),
              strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
            ) <= :now,
            false
          )
        )
      )
      and (
        not (
          "runs"."status" = 'delivered'
          and coalesce(
            "schedules"."overlap" = 'skip'
            and "schedules"."lastRunAt" > "runs"."scheduledAt"
            and coalesce(
              substr("runs"."checkAt", -24),
              strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
            ) <= :now,
            false
          )
        )
      )
    )
    and (
      "runs"."status" in ('pending', 'delivered')
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
  :projectId is null
  or "named"."id" is not null as "projectExists",
  :projectId is not null
  or "apiKeys"."projectIds" is null as "isUnrestricted",
  :projectId is null
  or (
    "apiKeys"."projectIds" is null
    or "named"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible"
from
  "apiKeys"
  left join "projects" "named" on (
    "named"."organizationId" = "apiKeys"."organizationId"
    and "named"."id" = + :projectId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- pauseIfFailing
update "schedules"
set
  "enabledAt" = + null,
  "nextRunAt" = + null,
  "updatedAt" = + :now,
  "pausedReason" = case coalesce("schedules"."pauseAfterFailures", 20)
    when 1 then 'A run failed.'
    else coalesce("schedules"."pauseAfterFailures", 20) || ' runs in a row failed.'
  end || ' The last failure (' || 'task' || ')' || coalesce(': ' || :message, '')
where
  (
    "schedules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "runs" on (
          "runs"."organizationId" = "apiKeys"."organizationId"
          and "runs"."id" = + :runId
        )
        left join "schedules" on (
          "schedules"."organizationId" = "runs"."organizationId"
          and "schedules"."id" = "runs"."scheduleId"
        )
        left join "projects" on (
          "runs"."parentType" = + 'project'
          and "projects"."organizationId" = "runs"."organizationId"
          and "projects"."id" = "runs"."parentId"
        )
        left join "agents" on (
          "runs"."parentType" = + 'agent'
          and "agents"."organizationId" = "runs"."organizationId"
          and "agents"."id" = "runs"."parentId"
        )
        left join "sessions" on (
          "sessions"."organizationId" = "apiKeys"."organizationId"
          and "sessions"."id" = + :sessionId
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
            :sessionId is null
            or "runs"."status" in ('succeeded', 'failed')
            or (
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
              and (
                "apiKeys"."projectIds" is null
                or "sessions"."projectId" in (
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
          and (
            :claimId is not null
            or "runs"."claimId" is null
            or "runs"."status" = 'pending'
          )
          and (
            :claimId is null
            or "runs"."claimId" is + :claimId
          )
          and (
            (
              "runs"."status" in ('pending', 'delivered')
              or "runs"."status" = + :outcome
              and coalesce("runs"."failure", 'task') = 'task'
            )
          )
          and (
            not (
              "runs"."status" = 'delivered'
              and "runs"."checkAt" is not null
              and coalesce(
                max(
                  coalesce(substr("runs"."checkAt", -24), ''),
                  strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
                ) <= :now,
                false
              )
            )
          )
          and (
            not (
              "runs"."status" = 'delivered'
              and coalesce(
                "schedules"."overlap" = 'skip'
                and "schedules"."lastRunAt" > "runs"."scheduledAt"
                and coalesce(
                  substr("runs"."checkAt", -24),
                  strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
                ) <= :now,
                false
              )
            )
          )
        )
    )
    and "schedules"."id" = (
      select
        "runs"."scheduleId"
      from
        "apiKeys"
        left join "runs" on (
          "runs"."organizationId" = "apiKeys"."organizationId"
          and "runs"."id" = + :runId
        )
        left join "schedules" on (
          "schedules"."organizationId" = "runs"."organizationId"
          and "schedules"."id" = "runs"."scheduleId"
        )
        left join "projects" on (
          "runs"."parentType" = + 'project'
          and "projects"."organizationId" = "runs"."organizationId"
          and "projects"."id" = "runs"."parentId"
        )
        left join "agents" on (
          "runs"."parentType" = + 'agent'
          and "agents"."organizationId" = "runs"."organizationId"
          and "agents"."id" = "runs"."parentId"
        )
        left join "sessions" on (
          "sessions"."organizationId" = "apiKeys"."organizationId"
          and "sessions"."id" = + :sessionId
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
              :sessionId is null
              or "runs"."status" in ('succeeded', 'failed')
              or (
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
                and (
                  "apiKeys"."projectIds" is null
                  or "sessions"."projectId" in (
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
            and (
              :claimId is not null
              or "runs"."claimId" is null
              or "runs"."status" = 'pending'
            )
            and (
              :claimId is null
              or "runs"."claimId" is + :claimId
            )
            and (
              (
                "runs"."status" in ('pending', 'delivered')
                or "runs"."status" = + :outcome
                and coalesce("runs"."failure", 'task') = 'task'
              )
            )
            and (
              not (
                "runs"."status" = 'delivered'
                and "runs"."checkAt" is not null
                and coalesce(
                  max(
                    coalesce(substr("runs"."checkAt", -24), ''),
                    strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
                  ) <= :now,
                  false
                )
              )
            )
            and (
              not (
                "runs"."status" = 'delivered'
                and coalesce(
                  "schedules"."overlap" = 'skip'
                  and "schedules"."lastRunAt" > "runs"."scheduledAt"
                  and coalesce(
                    substr("runs"."checkAt", -24),
                    strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
                  ) <= :now,
                  false
                )
              )
            )
          )
          and "runs"."finishedAt" = + :now
        )
    )
    and :outcome = 'failed'
    and (
      "schedules"."enabledAt" is not null
      and (
        select
          count(*)
        from
          (
            select
              "status",
              row_number() over (
                order by
                  "scheduledAt" desc
              ) as position
            from
              (
                select
                  *
                from
                  (
                    select
                      "runs"."status" as "status",
                      "runs"."checkAt" as "checkAt",
                      "runs"."scheduledAt" as "scheduledAt"
                    from
                      "runs"
                    where
                      "runs"."organizationId" = "schedules"."organizationId"
                      and "runs"."scheduleId" = "schedules"."id"
                      and "runs"."scheduledAt" >= "schedules"."enabledAt"
                    order by
                      "runs"."scheduledAt" desc
                    limit
                      1000
                  )
                where
                  "status" in ('succeeded', 'failed')
                  or (
                    "status" = 'delivered'
                    and "checkAt" is null
                  )
                limit
                  100
              )
          )
        where
          position <= coalesce("schedules"."pauseAfterFailures", 20)
          and "status" = 'failed'
      ) >= coalesce("schedules"."pauseAfterFailures", 20)
    )
  );

-- pauseIfFailing.recording
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
  substr(:event.id, 1, 32) || printf('%04x', 32768 + 0) as "id",
  'schedule.paused' as "type",
  "schedules"."id" as "resourceId",
  case "schedules"."parentType"
    when 'agent' then "schedules"."parentId"
  end as "parentId",
  "schedules"."name" as "resourceName",
  case "schedules"."parentType"
    when 'project' then "schedules"."parentId"
  end as "projectId",
  null as "apiKeyId",
  null as "apiKeyName",
  null as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join "schedules" on (
    "schedules"."organizationId" = "apiKeys"."organizationId"
    and "schedules"."id" = (
      select
        "scheduleId"
      from
        "runs"
      where
        (
          "runs"."organizationId" = "apiKeys"."organizationId"
          and "runs"."id" = + :runId
        )
    )
  )
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
            and "recorded"."id" = substr(:event.id, 1, 32) || printf('%04x', 32768 + 0)
          )
      )
    )
  );

-- pendingRuns
select
  "id" as "id",
  "scheduleId" as "scheduleId",
  "scheduleName" as "scheduleName",
  "projectId" as "projectId",
  "agentId" as "agentId",
  "scheduledAt" as "scheduledAt",
  "status" as "status",
  "failure" as "failure",
  "attempts" as "attempts",
  "lastError" as "lastError",
  "lastAttempts" as "lastAttempts",
  "nextAttemptAt" as "nextAttemptAt",
  "claim" as "claim",
  "startedAt" as "startedAt",
  "finishedAt" as "finishedAt",
  "message" as "message",
  "sessionId" as "sessionId",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "runs"."id" as "id",
      "runs"."scheduleId" as "scheduleId",
      "schedules"."name" as "scheduleName",
      case "runs"."parentType"
        when 'project' then "runs"."parentId"
      end as "projectId",
      case "runs"."parentType"
        when 'agent' then "runs"."parentId"
      end as "agentId",
      "runs"."scheduledAt" as "scheduledAt",
      "runs"."status" as "status",
      "runs"."failure" as "failure",
      "runs"."attempts" as "attempts",
      "runs"."lastError" as "lastError",
      "runs"."lastAttempts" as "lastAttempts",
      "runs"."nextAttemptAt" as "nextAttemptAt",
      case
        when "runs"."status" = 'delivered'
        and "runs"."claimId" is not null then json_insert("runs"."claimedBy", '$.leaseExpiresAt', substr("runs"."checkAt", -24))
      end as "claim",
      "runs"."startedAt" as "startedAt",
      "runs"."finishedAt" as "finishedAt",
      "runs"."message" as "message",
      "runs"."sessionId" as "sessionId",
      "runs"."createdAt" as "createdAt",
      "runs"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "runs" indexed by "runsPending"
        where
          (
            "runs"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and "runs"."status" = 'pending'
            and (
              "runs"."id" > :afterId
              and "runs"."id" < :beforeId
            )
          )
        order by
          "runs"."id" asc
        limit
          2500
      ) as "runs"
      left join "schedules" on (
        "schedules"."organizationId" = "runs"."organizationId"
        and "schedules"."id" = "runs"."scheduleId"
      )
      left join "projects" on (
        "runs"."parentType" = + 'project'
        and "projects"."organizationId" = "runs"."organizationId"
        and "projects"."id" = "runs"."parentId"
      )
      left join "agents" on (
        "runs"."parentType" = + 'agent'
        and "agents"."organizationId" = "runs"."organizationId"
        and "agents"."id" = "runs"."parentId"
      )
    where
      (
        (
          (
            :projectId is null
            or (
              "runs"."parentType" = 'project'
              and "runs"."parentId" = + :projectId
            )
          )
          and (
            :status is null
            or "runs"."status" = + :status
          )
          and (
            :scheduleId is null
            or "runs"."scheduleId" = + :scheduleId
          )
        )
        and (
          "schedules"."id" is not null
          and (
            "projects"."id" is not null
            or "agents"."id" is not null
          )
        )
      )
    union all
    select
      *
    from
      (
        select
          "runs"."id",
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
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          1
        from
          "runs" indexed by "runsPending"
        where
          (
            "runs"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and "runs"."status" = 'pending'
            and (
              "runs"."id" > :afterId
              and "runs"."id" < :beforeId
            )
          )
        order by
          "runs"."id" asc
        limit
          (
            (
              :scheduleId is not null
              or :projectId is not null
              or exists (
                select
                  1
                from
                  "deletions"
                where
                  "deletions"."organizationId" = (
                    select
                      "apiKeys"."organizationId"
                    from
                      "apiKeys"
                      left join "projects" "named" on (
                        "named"."organizationId" = "apiKeys"."organizationId"
                        and "named"."id" = + :projectId
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
                          :projectId is null
                          or "named"."id" is not null
                        )
                        and (
                          :projectId is not null
                          or "apiKeys"."projectIds" is null
                        )
                        and (
                          :projectId is null
                          or (
                            "apiKeys"."projectIds" is null
                            or "named"."id" in (
                              select
                                value
                              from
                                json_each("apiKeys"."projectIds")
                            )
                          )
                        )
                      )
                  )
                  and "deletions"."resourceType" in ('schedule', 'project', 'agent')
              )
            )
          )
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- projectScheduleRuns.readable.check
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
  "schedules"."id" is not null as "scheduleExists"
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

-- projectScheduleRuns.list
select
  "id",
  "scheduleId",
  (
    select
      "schedules"."name"
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
  ) as "scheduleName",
  case "parentType"
    when 'project' then "parentId"
  end as "projectId",
  case "parentType"
    when 'agent' then "parentId"
  end as "agentId",
  "scheduledAt",
  "status",
  "failure",
  "attempts",
  "lastError",
  "lastAttempts",
  "nextAttemptAt",
  case
    when "status" = 'delivered'
    and "claimId" is not null then json_insert("claimedBy", '$.leaseExpiresAt', substr("runs"."checkAt", -24))
  end as "claim",
  "startedAt",
  "finishedAt",
  "message",
  "sessionId",
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
    and "runs"."scheduledAt" < :before
  )
order by
  "runs"."scheduledAt" desc
limit
  + :rowLimit;

-- projectScheduleRuns.changeable.check
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
  "projects"."archivedAt" is null as "parentIsActive"
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
    "failure",
    "attempts",
    "lastError",
    "lastAttempts",
    "nextAttemptAt",
    "redeliveredAt",
    "claimId",
    "claimedBy",
    "checkAt",
    "startedAt",
    "finishedAt",
    "message",
    "sessionId",
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
  case
    when (
      case
        when not (true) then 'The ' || "schedules"."parentType" || ' was archived.'
        when "schedules"."overlap" = 'skip'
        and "schedules"."lastRunAt" > :scheduledAt then 'The run of ' || "schedules"."lastRunAt" || ' was created before this one fired.'
        else 'The run of ' || (
          select
            "scheduledAt"
          from
            "runs" "previous"
          where
            (
              "schedules"."overlap" = + 'skip'
              and "previous"."organizationId" = "schedules"."organizationId"
              and "previous"."scheduleId" = "schedules"."id"
              and "previous"."scheduledAt" = "schedules"."lastRunAt"
              and (
                "previous"."status" = + 'pending'
                or (
                  "previous"."status" = + 'delivered'
                  and max(
                    coalesce(substr("previous"."checkAt", -24), ''),
                    strftime('%Y-%m-%dT%H:%M:%fZ', "previous"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
                  ) > :now
                )
              )
            )
        ) || ' was not finished.'
      end
    ) is not null then 'skipped'
    else 'pending'
  end as "status",
  null as "failure",
  0 as "attempts",
  case
    when not (true) then 'The ' || "schedules"."parentType" || ' was archived.'
    when "schedules"."overlap" = 'skip'
    and "schedules"."lastRunAt" > :scheduledAt then 'The run of ' || "schedules"."lastRunAt" || ' was created before this one fired.'
    else 'The run of ' || (
      select
        "scheduledAt"
      from
        "runs" "previous"
      where
        (
          "schedules"."overlap" = + 'skip'
          and "previous"."organizationId" = "schedules"."organizationId"
          and "previous"."scheduleId" = "schedules"."id"
          and "previous"."scheduledAt" = "schedules"."lastRunAt"
          and (
            "previous"."status" = + 'pending'
            or (
              "previous"."status" = + 'delivered'
              and max(
                coalesce(substr("previous"."checkAt", -24), ''),
                strftime('%Y-%m-%dT%H:%M:%fZ', "previous"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
              ) > :now
            )
          )
        )
    ) || ' was not finished.'
  end as "lastError",
  null as "lastAttempts",
  null as "nextAttemptAt",
  null as "redeliveredAt",
  null as "claimId",
  null as "claimedBy",
  case
    when not (
      case
        when not (true) then 'The ' || "schedules"."parentType" || ' was archived.'
        when "schedules"."overlap" = 'skip'
        and "schedules"."lastRunAt" > :scheduledAt then 'The run of ' || "schedules"."lastRunAt" || ' was created before this one fired.'
        else 'The run of ' || (
          select
            "scheduledAt"
          from
            "runs" "previous"
          where
            (
              "schedules"."overlap" = + 'skip'
              and "previous"."organizationId" = "schedules"."organizationId"
              and "previous"."scheduleId" = "schedules"."id"
              and "previous"."scheduledAt" = "schedules"."lastRunAt"
              and (
                "previous"."status" = + 'pending'
                or (
                  "previous"."status" = + 'delivered'
                  and max(
                    coalesce(substr("previous"."checkAt", -24), ''),
                    strftime('%Y-%m-%dT%H:%M:%fZ', "previous"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
                  ) > :now
                )
              )
            )
        ) || ' was not finished.'
      end
    ) is not null
    and exists (
      select
        1
      from
        "runEndpoints"
      where
        "runEndpoints"."organizationId" = "schedules"."organizationId"
    ) then :checkAt
  end as "checkAt",
  null as "startedAt",
  null as "finishedAt",
  null as "message",
  null as "sessionId",
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
  )
on conflict do nothing;

-- projectScheduleRuns.insert.recording
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
  'run.created' as "type",
  :id as "resourceId",
  case "schedules"."parentType"
    when 'agent' then "schedules"."parentId"
  end as "parentId",
  "schedules"."name" as "resourceName",
  case "schedules"."parentType"
    when 'project' then "schedules"."parentId"
  end as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join "schedules" on (
    "schedules"."organizationId" = "apiKeys"."organizationId"
    and "schedules"."id" = + :scheduleId
  )
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
        inner join "runs" on (
          (
            "runs"."organizationId" = "schedules"."organizationId"
            and "runs"."scheduleId" = "schedules"."id"
          )
          and "runs"."scheduledAt" = + :scheduledAt
          and "runs"."status" <> 'skipped'
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
        )
    )
    and "schedules"."id" = + :scheduleId
  );

-- projectScheduleRuns.selectCreated
select
  "runs"."id",
  "runs"."scheduleId",
  "schedules"."name" as "scheduleName",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "agentId",
  "runs"."scheduledAt",
  "runs"."status",
  "runs"."failure",
  "runs"."attempts",
  "runs"."lastError",
  "runs"."lastAttempts",
  "runs"."nextAttemptAt",
  case
    when "runs"."status" = 'delivered'
    and "runs"."claimId" is not null then json_insert("runs"."claimedBy", '$.leaseExpiresAt', substr("runs"."checkAt", -24))
  end as "claim",
  "runs"."startedAt",
  "runs"."finishedAt",
  "runs"."message",
  "runs"."sessionId",
  "runs"."createdAt",
  "runs"."updatedAt"
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
            and "earlier"."idempotencyKey" = + :idempotencyKey
          )
      ),
      :scheduledAt
    )
    and (
      :idempotencyKey is null
      or "runs"."idempotencyKey" = + :idempotencyKey
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

-- redeliver
update "runs"
set
  "status" = + 'pending',
  "failure" = + null,
  "attempts" = + 0,
  "nextAttemptAt" = + null,
  "redeliveredAt" = max(
    :now,
    coalesce(
      (
        select
          "createdAt"
        from
          "runEndpoints"
        where
          "runEndpoints"."organizationId" = "runs"."organizationId"
      ),
      ''
    )
  ),
  "claimId" = + null,
  "checkAt" = + :checkAt,
  "startedAt" = + null,
  "finishedAt" = + null,
  "updatedAt" = + :now
where
  (
    "runs"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "runs" on (
          "runs"."organizationId" = "apiKeys"."organizationId"
          and "runs"."id" = + :runId
        )
        left join "schedules" on (
          "schedules"."organizationId" = "runs"."organizationId"
          and "schedules"."id" = "runs"."scheduleId"
        )
        left join "projects" on (
          "runs"."parentType" = + 'project'
          and "projects"."organizationId" = "runs"."organizationId"
          and "projects"."id" = "runs"."parentId"
        )
        left join "agents" on (
          "runs"."parentType" = + 'agent'
          and "agents"."organizationId" = "runs"."organizationId"
          and "agents"."id" = "runs"."parentId"
        )
        left join "runEndpoints" on "runEndpoints"."organizationId" = "apiKeys"."organizationId"
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
          and ("runEndpoints"."organizationId" is not null)
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
          and (
            not (
              "runs"."status" = 'delivered'
              and "runs"."claimId" is not null
            )
          )
          and (
            (
              "runs"."status" in ('pending', 'delivered')
              or "runs"."failure" = + 'delivery'
            )
          )
          and (
            not (
              "runs"."status" = 'delivered'
              and "runs"."checkAt" is not null
              and coalesce(
                max(
                  coalesce(substr("runs"."checkAt", -24), ''),
                  strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
                ) <= :now,
                false
              )
            )
          )
          and (
            not (
              "schedules"."overlap" = 'skip'
              and coalesce("schedules"."lastRunAt" > "runs"."scheduledAt", false)
            )
          )
        )
    )
    and "runs"."id" = + :runId
  );

-- redeliver.recording
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
  'run.redelivered' as "type",
  "runs"."id" as "resourceId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "parentId",
  "schedules"."name" as "resourceName",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" = + :runId
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = + 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = + 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
  )
  left join "runEndpoints" on "runEndpoints"."organizationId" = "apiKeys"."organizationId"
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
      and ("runEndpoints"."organizationId" is not null)
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
      and (
        not (
          "runs"."status" = 'delivered'
          and "runs"."claimId" is not null
        )
      )
      and (
        (
          "runs"."status" in ('pending', 'delivered')
          or "runs"."failure" = + 'delivery'
        )
      )
      and (
        not (
          "runs"."status" = 'delivered'
          and "runs"."checkAt" is not null
          and coalesce(
            max(
              coalesce(substr("runs"."checkAt", -24), ''),
              strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
            ) <= :now,
            false
          )
        )
      )
      and (
        not (
          "schedules"."overlap" = 'skip'
          and coalesce("schedules"."lastRunAt" > "runs"."scheduledAt", false)
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

-- redeliverable.check
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
    "runs"."id" is not null
    and (
      "schedules"."id" is not null
      and (
        "projects"."id" is not null
        or "agents"."id" is not null
      )
    )
  ) as "runExists",
  "runEndpoints"."organizationId" is not null as "endpointExists",
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
  ) as "isAccessible",
  not (
    "runs"."status" = 'delivered'
    and "runs"."claimId" is not null
  ) as "isUnclaimed",
  (
    "runs"."status" in ('pending', 'delivered')
    or "runs"."failure" = + 'delivery'
  ) as "isRedeliverable",
  not (
    "runs"."status" = 'delivered'
    and "runs"."checkAt" is not null
    and coalesce(
      max(
        coalesce(substr("runs"."checkAt", -24), ''),
        strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
      ) <= :now,
      false
    )
  ) as "isInTime",
  not (
    "schedules"."overlap" = 'skip'
    and coalesce("schedules"."lastRunAt" > "runs"."scheduledAt", false)
  ) as "isLatestIfAlone"
from
  "apiKeys"
  left join "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" = + :runId
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = + 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = + 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
  )
  left join "runEndpoints" on "runEndpoints"."organizationId" = "apiKeys"."organizationId"
where
  "apiKeys"."hash" = + :caller.keyHash;

-- renew
update "runs"
set
  "checkAt" = (
    select
      min(
        :leaseExpiresAt,
        coalesce(
          strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds'),
          :leaseExpiresAt
        )
      ) as "value"
    from
      "schedules"
    where
      (
        "schedules"."organizationId" = "runs"."organizationId"
        and "schedules"."id" = "runs"."scheduleId"
      )
  ),
  "updatedAt" = + :now
where
  (
    "runs"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "runs" on (
          "runs"."organizationId" = "apiKeys"."organizationId"
          and "runs"."id" = + :runId
        )
        left join "schedules" on (
          "schedules"."organizationId" = "runs"."organizationId"
          and "schedules"."id" = "runs"."scheduleId"
        )
        left join "projects" on (
          "runs"."parentType" = + 'project'
          and "projects"."organizationId" = "runs"."organizationId"
          and "projects"."id" = "runs"."parentId"
        )
        left join "agents" on (
          "runs"."parentType" = + 'agent'
          and "agents"."organizationId" = "runs"."organizationId"
          and "agents"."id" = "runs"."parentId"
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
          and (
            (
              "runs"."status" = + 'delivered'
              and "runs"."claimId" is + :claimId
              and coalesce(
                strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds') > :now,
                true
              )
              and not (
                "runs"."status" = 'delivered'
                and coalesce(
                  "schedules"."overlap" = 'skip'
                  and "schedules"."lastRunAt" > "runs"."scheduledAt"
                  and coalesce(
                    substr("runs"."checkAt", -24),
                    strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
                  ) <= :now,
                  false
                )
              )
            )
          )
        )
    )
    and "runs"."id" = + :runId
  )
returning
  "id",
  "claimId" as "claimId",
  "checkAt" as "leaseExpiresAt";

-- renewable.check
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
  ) as "isAccessible",
  (
    "runs"."status" = + 'delivered'
    and "runs"."claimId" is + :claimId
    and coalesce(
      strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds') > :now,
      true
    )
    and not (
      "runs"."status" = 'delivered'
      and coalesce(
        "schedules"."overlap" = 'skip'
        and "schedules"."lastRunAt" > "runs"."scheduledAt"
        and coalesce(
          substr("runs"."checkAt", -24),
          strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
        ) <= :now,
        false
      )
    )
  ) as "isClaimed"
from
  "apiKeys"
  left join "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" = + :runId
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = + 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = + 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- runsOfSchedule
select
  "id" as "id",
  "scheduleId" as "scheduleId",
  "scheduleName" as "scheduleName",
  "projectId" as "projectId",
  "agentId" as "agentId",
  "scheduledAt" as "scheduledAt",
  "status" as "status",
  "failure" as "failure",
  "attempts" as "attempts",
  "lastError" as "lastError",
  "lastAttempts" as "lastAttempts",
  "nextAttemptAt" as "nextAttemptAt",
  "claim" as "claim",
  "startedAt" as "startedAt",
  "finishedAt" as "finishedAt",
  "message" as "message",
  "sessionId" as "sessionId",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "runs"."id" as "id",
      "runs"."scheduleId" as "scheduleId",
      "schedules"."name" as "scheduleName",
      case "runs"."parentType"
        when 'project' then "runs"."parentId"
      end as "projectId",
      case "runs"."parentType"
        when 'agent' then "runs"."parentId"
      end as "agentId",
      "runs"."scheduledAt" as "scheduledAt",
      "runs"."status" as "status",
      "runs"."failure" as "failure",
      "runs"."attempts" as "attempts",
      "runs"."lastError" as "lastError",
      "runs"."lastAttempts" as "lastAttempts",
      "runs"."nextAttemptAt" as "nextAttemptAt",
      case
        when "runs"."status" = 'delivered'
        and "runs"."claimId" is not null then json_insert("runs"."claimedBy", '$.leaseExpiresAt', substr("runs"."checkAt", -24))
      end as "claim",
      "runs"."startedAt" as "startedAt",
      "runs"."finishedAt" as "finishedAt",
      "runs"."message" as "message",
      "runs"."sessionId" as "sessionId",
      "runs"."createdAt" as "createdAt",
      "runs"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "runs"
        where
          (
            "runs"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and "runs"."scheduleId" = + :scheduleId
            and "runs"."scheduledAt" < :before
            and "runs"."scheduledAt" >= :from
          )
        order by
          "runs"."scheduledAt" desc
        limit
          2500
      ) as "runs"
      left join "schedules" on (
        "schedules"."organizationId" = "runs"."organizationId"
        and "schedules"."id" = "runs"."scheduleId"
      )
      left join "projects" on (
        "runs"."parentType" = + 'project'
        and "projects"."organizationId" = "runs"."organizationId"
        and "projects"."id" = "runs"."parentId"
      )
      left join "agents" on (
        "runs"."parentType" = + 'agent'
        and "agents"."organizationId" = "runs"."organizationId"
        and "agents"."id" = "runs"."parentId"
      )
    where
      (
        (
          (
            :projectId is null
            or (
              "runs"."parentType" = 'project'
              and "runs"."parentId" = + :projectId
            )
          )
          and (
            :status is null
            or "runs"."status" = + :status
          )
          and (
            :scheduleId is null
            or "runs"."scheduleId" = + :scheduleId
          )
        )
        and (
          "schedules"."id" is not null
          and (
            "projects"."id" is not null
            or "agents"."id" is not null
          )
        )
      )
    union all
    select
      *
    from
      (
        select
          "runs"."id",
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
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          1
        from
          "runs"
        where
          (
            "runs"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and "runs"."scheduleId" = + :scheduleId
            and "runs"."scheduledAt" < :before
            and "runs"."scheduledAt" >= :from
          )
        order by
          "runs"."scheduledAt" desc
        limit
          (
            (
              :status is not null
              or :projectId is not null
              or exists (
                select
                  1
                from
                  "deletions"
                where
                  "deletions"."organizationId" = (
                    select
                      "apiKeys"."organizationId"
                    from
                      "apiKeys"
                      left join "projects" "named" on (
                        "named"."organizationId" = "apiKeys"."organizationId"
                        and "named"."id" = + :projectId
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
                          :projectId is null
                          or "named"."id" is not null
                        )
                        and (
                          :projectId is not null
                          or "apiKeys"."projectIds" is null
                        )
                        and (
                          :projectId is null
                          or (
                            "apiKeys"."projectIds" is null
                            or "named"."id" in (
                              select
                                value
                              from
                                json_each("apiKeys"."projectIds")
                            )
                          )
                        )
                      )
                  )
                  and "deletions"."resourceType" in ('schedule', 'project', 'agent')
              )
            )
          )
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- selectAcknowledged
select
  "runs"."id",
  "runs"."scheduleId",
  "schedules"."name" as "scheduleName",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "agentId",
  "runs"."scheduledAt",
  "runs"."status",
  "runs"."failure",
  "runs"."attempts",
  "runs"."lastError",
  "runs"."lastAttempts",
  "runs"."nextAttemptAt",
  case
    when "runs"."status" = 'delivered'
    and "runs"."claimId" is not null then json_insert("runs"."claimedBy", '$.leaseExpiresAt', substr("runs"."checkAt", -24))
  end as "claim",
  "runs"."startedAt",
  "runs"."finishedAt",
  "runs"."message",
  "runs"."sessionId",
  "runs"."createdAt",
  "runs"."updatedAt"
from
  "apiKeys"
  left join "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" = + :runId
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = + 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = + 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
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
    and (
      not (
        "runs"."status" = 'delivered'
        and "runs"."claimId" is not null
      )
    )
  );

-- selectCompleted
select
  "runs"."id",
  "runs"."scheduleId",
  "schedules"."name" as "scheduleName",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "agentId",
  "runs"."scheduledAt",
  "runs"."status",
  "runs"."failure",
  "runs"."attempts",
  "runs"."lastError",
  "runs"."lastAttempts",
  "runs"."nextAttemptAt",
  case
    when "runs"."status" = 'delivered'
    and "runs"."claimId" is not null then json_insert("runs"."claimedBy", '$.leaseExpiresAt', substr("runs"."checkAt", -24))
  end as "claim",
  "runs"."startedAt",
  "runs"."finishedAt",
  "runs"."message",
  "runs"."sessionId",
  "runs"."createdAt",
  "runs"."updatedAt"
from
  "apiKeys"
  left join "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" = + :runId
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = + 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = + 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
  )
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :sessionId
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
      :sessionId is null
      or "runs"."status" in ('succeeded', 'failed')
      or (
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
        and (
          "apiKeys"."projectIds" is null
          or "sessions"."projectId" in (
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
    and (
      :claimId is not null
      or "runs"."claimId" is null
      or "runs"."status" = 'pending'
    )
    and (
      :claimId is null
      or "runs"."claimId" is + :claimId
    )
    and (
      (
        "runs"."status" in ('pending', 'delivered')
        or "runs"."status" = + :outcome
        and coalesce("runs"."failure", 'task') = 'task'
      )
    )
    and (
      not (
        "runs"."status" = 'delivered'
        and "runs"."checkAt" is not null
        and coalesce(
          max(
            coalesce(substr("runs"."checkAt", -24), ''),
            strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
          ) <= :now,
          false
        )
      )
    )
    and (
      not (
        "runs"."status" = 'delivered'
        and coalesce(
          "schedules"."overlap" = 'skip'
          and "schedules"."lastRunAt" > "runs"."scheduledAt"
          and coalesce(
            substr("runs"."checkAt", -24),
            strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
          ) <= :now,
          false
        )
      )
    )
  );

-- selectRedelivered
select
  "runs"."id",
  "runs"."scheduleId",
  "schedules"."name" as "scheduleName",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "agentId",
  "runs"."scheduledAt",
  "runs"."status",
  "runs"."failure",
  "runs"."attempts",
  "runs"."lastError",
  "runs"."lastAttempts",
  "runs"."nextAttemptAt",
  case
    when "runs"."status" = 'delivered'
    and "runs"."claimId" is not null then json_insert("runs"."claimedBy", '$.leaseExpiresAt', substr("runs"."checkAt", -24))
  end as "claim",
  "runs"."startedAt",
  "runs"."finishedAt",
  "runs"."message",
  "runs"."sessionId",
  "runs"."createdAt",
  "runs"."updatedAt"
from
  "apiKeys"
  left join "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" = + :runId
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = + 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = + 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
  )
  left join "runEndpoints" on "runEndpoints"."organizationId" = "apiKeys"."organizationId"
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
    and ("runEndpoints"."organizationId" is not null)
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
    and (
      not (
        "runs"."status" = 'delivered'
        and "runs"."claimId" is not null
      )
    )
    and (
      (
        "runs"."status" in ('pending', 'delivered')
        or "runs"."failure" = + 'delivery'
      )
    )
    and (
      not (
        "runs"."status" = 'delivered'
        and "runs"."checkAt" is not null
        and coalesce(
          max(
            coalesce(substr("runs"."checkAt", -24), ''),
            strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
          ) <= :now,
          false
        )
      )
    )
    and (
      not (
        "schedules"."overlap" = 'skip'
        and coalesce("schedules"."lastRunAt" > "runs"."scheduledAt", false)
      )
    )
  );

-- selectRun
select
  "runs"."id",
  "runs"."scheduleId",
  "schedules"."name" as "scheduleName",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "agentId",
  "runs"."scheduledAt",
  "runs"."status",
  "runs"."failure",
  "runs"."attempts",
  "runs"."lastError",
  "runs"."lastAttempts",
  "runs"."nextAttemptAt",
  case
    when "runs"."status" = 'delivered'
    and "runs"."claimId" is not null then json_insert("runs"."claimedBy", '$.leaseExpiresAt', substr("runs"."checkAt", -24))
  end as "claim",
  "runs"."startedAt",
  "runs"."finishedAt",
  "runs"."message",
  "runs"."sessionId",
  "runs"."createdAt",
  "runs"."updatedAt"
from
  "apiKeys"
  left join "runs" on (
    "runs"."organizationId" = "apiKeys"."organizationId"
    and "runs"."id" = + :runId
  )
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "projects" on (
    "runs"."parentType" = + 'project'
    and "projects"."organizationId" = "runs"."organizationId"
    and "projects"."id" = "runs"."parentId"
  )
  left join "agents" on (
    "runs"."parentType" = + 'agent'
    and "agents"."organizationId" = "runs"."organizationId"
    and "agents"."id" = "runs"."parentId"
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
