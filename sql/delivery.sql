-- src/resources/schedules/delivery/check-runs.ts

-- selectToCheck
select
  "runs"."organizationId" as "organizationId",
  "runs"."id",
  "runs"."scheduleId",
  "runs"."status",
  "runs"."attempts",
  "runs"."checkAt",
  "runs"."claimId",
  "schedules"."maxRunSeconds",
  strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds') as "deadline",
  (
    "runs"."status" = 'delivered'
    and coalesce(
      "schedules"."overlap" = 'skip'
      and "schedules"."lastRunAt" > "runs"."scheduledAt"
      and coalesce(
        "runs"."checkAt",
        strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
      ) <= :now,
      false
    )
  ) as "isSuperseded",
  "runEndpoints"."organizationId" is not null as "hasEndpoint",
  coalesce("runEndpoints"."slowUntil" > :now, false) as "isSlow"
from
  "runs"
  left join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  )
  left join "runEndpoints" on (
    "runEndpoints"."organizationId" = "runs"."organizationId"
    and "runEndpoints"."createdAt" <= coalesce("runs"."redeliveredAt", "runs"."createdAt")
  )
where
  "runs"."checkAt" <= :now
order by
  "runs"."checkAt" asc
limit
  + 1000;

-- storeChecked
update "runs"
set
  "status" = ("checked".value ->> 'newStatus'),
  "failure" = ("checked".value ->> 'failure'),
  "lastError" = coalesce(("checked".value ->> 'lastError'), "runs"."lastError"),
  "nextAttemptAt" = null,
  "checkAt" = ("checked".value ->> 'newCheckAt'),
  "startedAt" = case
    when not (
      ("checked".value ->> 'status') = 'delivered'
      and ("checked".value ->> 'newStatus') = 'pending'
    ) then "runs"."startedAt"
  end,
  "finishedAt" = case
    when ("checked".value ->> 'newStatus') = 'failed' then :now
  end,
  "updatedAt" = case
    when ("checked".value ->> 'status') = 'delivered' then :now
    else "runs"."updatedAt"
  end
from
  json_each(:checked) as "checked"
where
  (
    (
      "runs"."organizationId" = ("checked".value ->> 'organizationId')
      and "runs"."id" = ("checked".value ->> 'id')
      and "runs"."status" = ("checked".value ->> 'status')
    )
    and "runs"."checkAt" = ("checked".value ->> 'checkAt')
  );

-- src/resources/schedules/delivery/consumer.ts

-- deleteGone
delete from "runEndpoints"
where
  ("runEndpoints"."organizationId", "runEndpoints"."url", "runEndpoints"."createdAt") in (
    select
      ("goneEndpoints".value ->> 'organizationId'),
      ("goneEndpoints".value ->> 'url'),
      ("goneEndpoints".value ->> 'endpointCreatedAt')
    from
      json_each(:goneEndpoints) as "goneEndpoints"
  );

-- markSlow
update "runEndpoints"
set
  "slowUntil" = :slowUntil
where
  ("runEndpoints"."organizationId", "runEndpoints"."url", "runEndpoints"."createdAt") in (
    select
      ("slowEndpoints".value ->> 'organizationId'),
      ("slowEndpoints".value ->> 'url'),
      ("slowEndpoints".value ->> 'endpointCreatedAt')
    from
      json_each(:slowEndpoints) as "slowEndpoints"
  );

-- recordResults
update "runs"
set
  "status" = case
    when (
      (
        "runs"."status" = 'pending'
        and (
          "runs"."redeliveredAt" is ("results".value ->> 'redeliveredAt')
          or (
            ("results".value ->> 'status') = 'succeeded'
            or ("results".value ->> 'failure') is 'task'
          )
        )
      )
      or (
        "runs"."status" = 'delivered'
        and "runs"."claimId" is null
        and (
          ("results".value ->> 'status') = 'succeeded'
          or ("results".value ->> 'failure') is 'task'
        )
      )
    ) then ("results".value ->> 'status')
    else "runs"."status"
  end,
  "failure" = case
    when (
      (
        "runs"."status" = 'pending'
        and (
          "runs"."redeliveredAt" is ("results".value ->> 'redeliveredAt')
          or (
            ("results".value ->> 'status') = 'succeeded'
            or ("results".value ->> 'failure') is 'task'
          )
        )
      )
      or (
        "runs"."status" = 'delivered'
        and "runs"."claimId" is null
        and (
          ("results".value ->> 'status') = 'succeeded'
          or ("results".value ->> 'failure') is 'task'
        )
      )
    ) then ("results".value ->> 'failure')
    else "runs"."failure"
  end,
  "attempts" = case
    when "runs"."redeliveredAt" is ("results".value ->> 'redeliveredAt') then max("runs"."attempts", ("results".value ->> 'attempts'))
    else "runs"."attempts"
  end,
  "lastError" = case
    when (
      (
        "runs"."status" = 'pending'
        and (
          "runs"."redeliveredAt" is ("results".value ->> 'redeliveredAt')
          or (
            ("results".value ->> 'status') = 'succeeded'
            or ("results".value ->> 'failure') is 'task'
          )
        )
      )
      or (
        "runs"."status" = 'delivered'
        and "runs"."claimId" is null
        and (
          ("results".value ->> 'status') = 'succeeded'
          or ("results".value ->> 'failure') is 'task'
        )
      )
    ) then case
      when ("results".value ->> 'sessionId') is not null
      and (
        select
          "sessions"."id"
        from
          "sessions"
          inner join "projects" on "projects"."organizationId" = "sessions"."organizationId"
          and "projects"."id" = "sessions"."projectId"
        where
          "sessions"."organizationId" = "runs"."organizationId"
          and "sessions"."id" = ("results".value ->> 'sessionId')
      ) is null then 'The sessionId in the response was ignored: there is no such session.'
      else ("results".value ->> 'lastError')
    end
    else "runs"."lastError"
  end,
  "lastAttempts" = case
    when ("results".value ->> 'lastAttempt') is null then "runs"."lastAttempts"
    else json_remove(
      '[' || ("results".value ->> 'lastAttempt') || coalesce(',' || substr("runs"."lastAttempts", 2), ']'),
      '$[6]'
    )
  end,
  "nextAttemptAt" = case
    when (
      (
        "runs"."status" = 'pending'
        and (
          "runs"."redeliveredAt" is ("results".value ->> 'redeliveredAt')
          or (
            ("results".value ->> 'status') = 'succeeded'
            or ("results".value ->> 'failure') is 'task'
          )
        )
      )
      or (
        "runs"."status" = 'delivered'
        and "runs"."claimId" is null
        and (
          ("results".value ->> 'status') = 'succeeded'
          or ("results".value ->> 'failure') is 'task'
        )
      )
    ) then ("results".value ->> 'nextAttemptAt')
    else "runs"."nextAttemptAt"
  end,
  "checkAt" = case
    when (
      (
        "runs"."status" = 'pending'
        and (
          "runs"."redeliveredAt" is ("results".value ->> 'redeliveredAt')
          or (
            ("results".value ->> 'status') = 'succeeded'
            or ("results".value ->> 'failure') is 'task'
          )
        )
      )
      or (
        "runs"."status" = 'delivered'
        and "runs"."claimId" is null
        and (
          ("results".value ->> 'status') = 'succeeded'
          or ("results".value ->> 'failure') is 'task'
        )
      )
    ) then ("results".value ->> 'checkAt')
    else "runs"."checkAt"
  end,
  "startedAt" = case
    when "runs"."status" in ('pending', 'delivered')
    and not (
      (
        "runs"."status" = 'pending'
        and (
          "runs"."redeliveredAt" is ("results".value ->> 'redeliveredAt')
          or (
            ("results".value ->> 'status') = 'succeeded'
            or ("results".value ->> 'failure') is 'task'
          )
        )
      )
      or (
        "runs"."status" = 'delivered'
        and "runs"."claimId" is null
        and (
          ("results".value ->> 'status') = 'succeeded'
          or ("results".value ->> 'failure') is 'task'
        )
      )
    ) then "runs"."startedAt"
    else coalesce(("results".value ->> 'startedAt'), "runs"."startedAt")
  end,
  "finishedAt" = case
    when (
      (
        "runs"."status" = 'pending'
        and (
          "runs"."redeliveredAt" is ("results".value ->> 'redeliveredAt')
          or (
            ("results".value ->> 'status') = 'succeeded'
            or ("results".value ->> 'failure') is 'task'
          )
        )
      )
      or (
        "runs"."status" = 'delivered'
        and "runs"."claimId" is null
        and (
          ("results".value ->> 'status') = 'succeeded'
          or ("results".value ->> 'failure') is 'task'
        )
      )
    ) then ("results".value ->> 'finishedAt')
    else "runs"."finishedAt"
  end,
  "message" = case
    when (
      (
        "runs"."status" = 'pending'
        and (
          "runs"."redeliveredAt" is ("results".value ->> 'redeliveredAt')
          or (
            ("results".value ->> 'status') = 'succeeded'
            or ("results".value ->> 'failure') is 'task'
          )
        )
      )
      or (
        "runs"."status" = 'delivered'
        and "runs"."claimId" is null
        and (
          ("results".value ->> 'status') = 'succeeded'
          or ("results".value ->> 'failure') is 'task'
        )
      )
    ) then ("results".value ->> 'message')
    else "runs"."message"
  end,
  "sessionId" = case
    when (
      (
        "runs"."status" = 'pending'
        and (
          "runs"."redeliveredAt" is ("results".value ->> 'redeliveredAt')
          or (
            ("results".value ->> 'status') = 'succeeded'
            or ("results".value ->> 'failure') is 'task'
          )
        )
      )
      or (
        "runs"."status" = 'delivered'
        and "runs"."claimId" is null
        and (
          ("results".value ->> 'status') = 'succeeded'
          or ("results".value ->> 'failure') is 'task'
        )
      )
    ) then (
      select
        "sessions"."id"
      from
        "sessions"
        inner join "projects" on "projects"."organizationId" = "sessions"."organizationId"
        and "projects"."id" = "sessions"."projectId"
      where
        "sessions"."organizationId" = "runs"."organizationId"
        and "sessions"."id" = ("results".value ->> 'sessionId')
    )
    else "runs"."sessionId"
  end,
  "updatedAt" = :now
from
  json_each(:results) as "results"
where
  (
    (
      "runs"."organizationId" = ("results".value ->> 'organizationId')
      and "runs"."id" = ("results".value ->> 'id')
    )
    and (
      "runs"."status" <> 'delivered'
      or "runs"."claimId" is null
    )
  );

-- selectDeliveries
select
  "runs"."organizationId" as "organizationId",
  "runs"."id" as "id",
  "runs"."scheduleId",
  "schedules"."name",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "agentId",
  "schedules"."cron",
  "schedules"."runAt",
  "schedules"."timezone",
  "runs"."scheduledAt",
  "schedules"."payload",
  "runs"."attempts",
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
  "runs"."lastError",
  "runs"."redeliveredAt",
  "schedules"."maxRunSeconds",
  "runEndpoints"."url",
  "runEndpoints"."createdAt" as "endpointCreatedAt",
  coalesce("runEndpoints"."slowUntil" > :now, false) as "isSlow",
  "runEndpoints"."sealedSecret",
  case
    when "runEndpoints"."previousExpiresAt" > :now then "runEndpoints"."previousSealedSecret"
  end as "previousSealedSecret"
from
  json_each(:references) as "references"
  cross join "runs"
  inner join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
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
  left join "runEndpoints" on (
    "runEndpoints"."organizationId" = "runs"."organizationId"
    and "runEndpoints"."createdAt" <= coalesce("runs"."redeliveredAt", "runs"."createdAt")
  )
where
  (
    (
      "runs"."organizationId" = ("references".value ->> 'organizationId')
      and "runs"."id" = ("references".value ->> 'id')
      and "runs"."attempts" = ("references".value ->> 'attempts')
    )
    and "runs"."status" = 'pending'
    and (
      "projects"."id" is not null
      or "agents"."id" is not null
    )
  );
