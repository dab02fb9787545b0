-- src/resources/work/firing/fire.ts

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
  ("firings".value ->> 'dueAt') as "missedFrom",
  ("firings".value ->> 'scheduledAt') as "missedUntil",
  "schedules"."parentType" as "parentType",
  "schedules"."parentId" as "parentId",
  "schedules"."cron" as "cron",
  "schedules"."timezone" as "timezone"
from
  json_each(:firings) as "firings"
  cross join "schedules"
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
        (
          "schedules"."organizationId" = ("firings".value ->> 'organizationId')
          and "schedules"."id" = ("firings".value ->> 'id')
          and "schedules"."timezone" = ("firings".value ->> 'timezone')
        )
        and "schedules"."cron" is ("firings".value ->> 'cron')
        and "schedules"."runAt" is ("firings".value ->> 'runAt')
      )
      and "schedules"."nextRunAt" = ("firings".value ->> 'dueAt')
      and (
        not exists (
          select
            1
          from
            "halts"
          where
            "halts"."organizationId" = "schedules"."organizationId"
            and (
              "halts"."until" is null
              or "halts"."until" > :now
            )
        )
        and (
          not exists (
            select
              1
            from
              "brakes"
            where
              "brakes"."kind" = 'firing'
          )
          and not exists (
            select
              1
            from
              "organizationBrakes"
            where
              "organizationBrakes"."organizationId" = "schedules"."organizationId"
              and "organizationBrakes"."kind" = 'firing'
          )
        )
      )
    )
    and ("firings".value ->> 'dueAt') < ("firings".value ->> 'scheduledAt')
    and (
      "projects"."id" is not null
      or "agents"."id" is not null
    )
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
  ("firings".value ->> 'scheduledAt') as "scheduledAt",
  ("firings".value ->> 'runId') as "id",
  "schedules"."parentType" as "parentType",
  "schedules"."parentId" as "parentId",
  case
    when (
      case
        when not (coalesce("projects"."archivedAt", "agents"."archivedAt") is null) then 'The ' || "schedules"."parentType" || ' was archived.'
        when "schedules"."overlap" = 'skip'
        and "schedules"."lastRunAt" > ("firings".value ->> 'scheduledAt') then 'The run of ' || "schedules"."lastRunAt" || ' was created before this one fired.'
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
    when not (coalesce("projects"."archivedAt", "agents"."archivedAt") is null) then 'The ' || "schedules"."parentType" || ' was archived.'
    when "schedules"."overlap" = 'skip'
    and "schedules"."lastRunAt" > ("firings".value ->> 'scheduledAt') then 'The run of ' || "schedules"."lastRunAt" || ' was created before this one fired.'
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
        when not (coalesce("projects"."archivedAt", "agents"."archivedAt") is null) then 'The ' || "schedules"."parentType" || ' was archived.'
        when "schedules"."overlap" = 'skip'
        and "schedules"."lastRunAt" > ("firings".value ->> 'scheduledAt') then 'The run of ' || "schedules"."lastRunAt" || ' was created before this one fired.'
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
  null as "idempotencyKey"
from
  json_each(:firings) as "firings"
  cross join "schedules"
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
        (
          "schedules"."organizationId" = ("firings".value ->> 'organizationId')
          and "schedules"."id" = ("firings".value ->> 'id')
          and "schedules"."timezone" = ("firings".value ->> 'timezone')
        )
        and "schedules"."cron" is ("firings".value ->> 'cron')
        and "schedules"."runAt" is ("firings".value ->> 'runAt')
      )
      and "schedules"."nextRunAt" = ("firings".value ->> 'dueAt')
      and (
        not exists (
          select
            1
          from
            "halts"
          where
            "halts"."organizationId" = "schedules"."organizationId"
            and (
              "halts"."until" is null
              or "halts"."until" > :now
            )
        )
        and (
          not exists (
            select
              1
            from
              "brakes"
            where
              "brakes"."kind" = 'firing'
          )
          and not exists (
            select
              1
            from
              "organizationBrakes"
            where
              "organizationBrakes"."organizationId" = "schedules"."organizationId"
              and "organizationBrakes"."kind" = 'firing'
          )
        )
      )
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
  "checkAt";

-- recordTick
insert into
  "lastTick" ("id", "scheduledAt")
values
  (1, :now)
on conflict ("lastTick"."id") do update
set
  "scheduledAt" = max("lastTick"."scheduledAt", excluded."scheduledAt");

-- recordUncomputable
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
  "schedules"."organizationId" as "organizationId",
  max(
    :event.firstSequence,
    coalesce(
      (
        select
          max("sequence")
        from
          "auditEvents" "last"
        where
          "last"."organizationId" = "schedules"."organizationId"
      ),
      0
    ) + 1
  ) + row_number() over (
    partition by
      "schedules"."organizationId"
  ) - 1 as "sequence",
  substr(:event.id, 1, 24) || lower(hex(randomblob(6))) as "id",
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
  null as "requestId"
from
  json_each(:firings) as "firings"
  inner join "schedules" on (
    (
      (
        (
          "schedules"."organizationId" = ("firings".value ->> 'organizationId')
          and "schedules"."id" = ("firings".value ->> 'id')
          and "schedules"."timezone" = ("firings".value ->> 'timezone')
        )
        and "schedules"."cron" is ("firings".value ->> 'cron')
        and "schedules"."runAt" is ("firings".value ->> 'runAt')
      )
      and "schedules"."nextRunAt" = ("firings".value ->> 'dueAt')
      and (
        not exists (
          select
            1
          from
            "halts"
          where
            "halts"."organizationId" = "schedules"."organizationId"
            and (
              "halts"."until" is null
              or "halts"."until" > :now
            )
        )
        and (
          not exists (
            select
              1
            from
              "brakes"
            where
              "brakes"."kind" = 'firing'
          )
          and not exists (
            select
              1
            from
              "organizationBrakes"
            where
              "organizationBrakes"."organizationId" = "schedules"."organizationId"
              and "organizationBrakes"."kind" = 'firing'
          )
        )
      )
    )
    and (
      "schedules"."enabledAt" is not null
      and "schedules"."cron" is not null
      and ("firings".value ->> 'nextRunAt') is null
    )
  );

-- selectDue
select
  "schedules"."organizationId",
  "schedules"."id",
  "schedules"."cron",
  "schedules"."runAt",
  "schedules"."timezone",
  "schedules"."nextRunAt" as "dueAt",
  coalesce("runEndpoints"."slowUntil" > :now, false) as "isSlow"
from
  "schedules"
  left join "runEndpoints" on "runEndpoints"."organizationId" = "schedules"."organizationId"
where
  (
    "schedules"."nextRunAt" <= :now
    and (
      not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "schedules"."organizationId"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
      )
      and (
        not exists (
          select
            1
          from
            "brakes"
          where
            "brakes"."kind" = 'firing'
        )
        and not exists (
          select
            1
          from
            "organizationBrakes"
          where
            "organizationBrakes"."organizationId" = "schedules"."organizationId"
            and "organizationBrakes"."kind" = 'firing'
        )
      )
    )
  )
order by
  "schedules"."nextRunAt" asc
limit
  + 250;

-- updateNextRuns
update "schedules"
set
  "enabledAt" = case
    when not (
      ("firings".value ->> 'nextRunAt') is null
      and "schedules"."cron" is not null
    ) then "schedules"."enabledAt"
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
              and "runs"."scheduledAt" = ("firings".value ->> 'scheduledAt')
              and "runs"."status" <> 'skipped'
            )
        ),
        ''
      ),
      coalesce("schedules"."lastRunAt", '')
    ),
    ''
  ),
  "nextRunAt" = ("firings".value ->> 'nextRunAt'),
  "pausedReason" = case
    when ("firings".value ->> 'nextRunAt') is null
    and "schedules"."cron" is not null then 'The next run could not be computed. Change the cron expression or the time zone.'
  end
from
  json_each(:firings) as "firings"
where
  (
    (
      (
        "schedules"."organizationId" = ("firings".value ->> 'organizationId')
        and "schedules"."id" = ("firings".value ->> 'id')
        and "schedules"."timezone" = ("firings".value ->> 'timezone')
      )
      and "schedules"."cron" is ("firings".value ->> 'cron')
      and "schedules"."runAt" is ("firings".value ->> 'runAt')
    )
    and "schedules"."nextRunAt" = ("firings".value ->> 'dueAt')
    and (
      not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "schedules"."organizationId"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
      )
      and (
        not exists (
          select
            1
          from
            "brakes"
          where
            "brakes"."kind" = 'firing'
        )
        and not exists (
          select
            1
          from
            "organizationBrakes"
          where
            "organizationBrakes"."organizationId" = "schedules"."organizationId"
            and "organizationBrakes"."kind" = 'firing'
        )
      )
    )
  );

-- src/resources/work/firing/pause-failing.ts

-- pauseFailing
update "schedules"
set
  "enabledAt" = + null,
  "nextRunAt" = + null,
  "updatedAt" = + :now,
  "pausedReason" = case coalesce("schedules"."pauseAfterFailures", 20)
    when 1 then 'A run failed.'
    else coalesce("schedules"."pauseAfterFailures", 20) || ' runs in a row failed.'
  end || ' The last failure (' || ("failed".value ->> 'failure') || ')' || coalesce(': ' || ("failed".value ->> 'error'), '')
from
  json_each(:failed) as "failed"
where
  (
    "schedules"."organizationId" = ("failed".value ->> 'organizationId')
    and "schedules"."id" = ("failed".value ->> 'scheduleId')
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

-- recordPauses
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
  "schedules"."organizationId" as "organizationId",
  max(
    :event.firstSequence,
    coalesce(
      (
        select
          max("sequence")
        from
          "auditEvents" "last"
        where
          "last"."organizationId" = "schedules"."organizationId"
      ),
      0
    ) + 1
  ) + row_number() over (
    partition by
      "schedules"."organizationId"
  ) - 1 as "sequence",
  substr(:event.id, 1, 24) || lower(hex(randomblob(6))) as "id",
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
  null as "requestId"
from
  json_each(:failed) as "failed"
  inner join "schedules" on (
    "schedules"."organizationId" = ("failed".value ->> 'organizationId')
    and "schedules"."id" = ("failed".value ->> 'scheduleId')
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

-- src/resources/work/firing/record-missed.ts

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
  "missedSpans"."organizationId" as "organizationId",
  "missedSpans"."scheduleId" as "scheduleId",
  ("missed".value ->> 'scheduledAt') as "scheduledAt",
  ("missed".value ->> 'runId') as "id",
  "missedSpans"."parentType" as "parentType",
  "missedSpans"."parentId" as "parentId",
  'skipped' as "status",
  null as "failure",
  0 as "attempts",
  'The run was missed. The run of ' || "missedSpans"."missedUntil" || ' replaces it.' as "lastError",
  null as "lastAttempts",
  null as "nextAttemptAt",
  null as "redeliveredAt",
  null as "claimId",
  null as "claimedBy",
  null as "checkAt",
  null as "startedAt",
  null as "finishedAt",
  null as "message",
  null as "sessionId",
  :now as "createdAt",
  :now as "updatedAt",
  null as "idempotencyKey"
from
  json_each(:missed) as "missed"
  cross join "missedSpans"
  left join "schedules" on (
    "schedules"."organizationId" = "missedSpans"."organizationId"
    and "schedules"."id" = "missedSpans"."scheduleId"
  )
  left join "deletions" on (
    "deletions"."organizationId" = "missedSpans"."organizationId"
    and "deletions"."resourceType" = 'schedule'
    and "deletions"."resourceId" = "missedSpans"."scheduleId"
  )
where
  (
    (
      "missedSpans"."organizationId" = ("missed".value ->> 'organizationId')
      and "missedSpans"."scheduleId" = ("missed".value ->> 'scheduleId')
      and "missedSpans"."missedUntil" = ("missed".value ->> 'missedUntil')
    )
    and (
      "schedules"."id" is not null
      or "deletions"."row" is not null
    )
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
  (
    "missedSpans"."missedFrom" <= :now
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = "missedSpans"."organizationId"
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
        and "halts"."kind" <> 'suspended'
    )
  )
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

-- src/resources/work/firing/refresh-next-runs.ts

-- recordPaused
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
  "schedules"."organizationId" as "organizationId",
  max(
    :event.firstSequence,
    coalesce(
      (
        select
          max("sequence")
        from
          "auditEvents" "last"
        where
          "last"."organizationId" = "schedules"."organizationId"
      ),
      0
    ) + 1
  ) + row_number() over (
    partition by
      "schedules"."organizationId"
  ) - 1 as "sequence",
  substr(:event.id, 1, 24) || lower(hex(randomblob(6))) as "id",
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
  null as "requestId"
from
  json_each(:refreshed) as "refreshed"
  inner join "schedules" on (
    (
      (
        (
          "schedules"."organizationId" = ("refreshed".value ->> 'organizationId')
          and "schedules"."id" = ("refreshed".value ->> 'id')
          and "schedules"."timezone" = ("refreshed".value ->> 'timezone')
        )
        and "schedules"."cron" is ("refreshed".value ->> 'cron')
        and "schedules"."runAt" is ("refreshed".value ->> 'runAt')
      )
      and "schedules"."enabledAt" = ("refreshed".value ->> 'enabledAt')
      and "schedules"."nextRunAt" is ("refreshed".value ->> 'nextRunAt')
      and not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "schedules"."organizationId"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    )
    and (
      "schedules"."enabledAt" is not null
      and "schedules"."cron" is not null
      and ("refreshed".value ->> 'newNextRunAt') is null
    )
  );

-- selectPage
select
  "organizationId",
  "id",
  "cron",
  "runAt",
  "timezone",
  "enabledAt",
  "lastRunAt",
  "nextRunAt",
  "updatedAt"
from
  "schedules"
where
  ("schedules"."organizationId", "schedules"."id") > (:after ->> 0, :after ->> 1)
order by
  "schedules"."organizationId" asc,
  "schedules"."id" asc
limit
  + 100;

-- storeNextRuns
update "schedules"
set
  "enabledAt" = case
    when not (
      ("refreshed".value ->> 'newNextRunAt') is null
      and "schedules"."cron" is not null
    ) then "schedules"."enabledAt"
  end,
  "nextRunAt" = ("refreshed".value ->> 'newNextRunAt'),
  "pausedReason" = case
    when ("refreshed".value ->> 'newNextRunAt') is null
    and "schedules"."cron" is not null then 'The next run could not be computed. Change the cron expression or the time zone.'
  end
from
  json_each(:refreshed) as "refreshed"
where
  (
    (
      (
        "schedules"."organizationId" = ("refreshed".value ->> 'organizationId')
        and "schedules"."id" = ("refreshed".value ->> 'id')
        and "schedules"."timezone" = ("refreshed".value ->> 'timezone')
      )
      and "schedules"."cron" is ("refreshed".value ->> 'cron')
      and "schedules"."runAt" is ("refreshed".value ->> 'runAt')
    )
    and "schedules"."enabledAt" = ("refreshed".value ->> 'enabledAt')
    and "schedules"."nextRunAt" is ("refreshed".value ->> 'nextRunAt')
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = "schedules"."organizationId"
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
        and "halts"."kind" <> 'suspended'
    )
  );
