-- src/delivery/consumer.ts

-- deleteGone
delete from "runEndpoints"
where
  ("runEndpoints"."organizationId", "runEndpoints"."url") in (
    select
      ("goneEndpoints".value ->> 'organizationId'),
      ("goneEndpoints".value ->> 'url')
    from
      json_each(:goneEndpoints) as "goneEndpoints"
  );

-- markSlow
update "runEndpoints"
set
  "slowUntil" = :slowUntil
where
  ("runEndpoints"."organizationId", "runEndpoints"."url") in (
    select
      ("slowEndpoints".value ->> 'organizationId'),
      ("slowEndpoints".value ->> 'url')
    from
      json_each(:slowEndpoints) as "slowEndpoints"
  );

-- pauseFailing
update "schedules"
set
  "enabledAt" = null,
  "nextRunAt" = null,
  "updatedAt" = :now,
  "pausedReason" = '20 runs in a row failed. The last error: ' || ("failures".value ->> 'lastError')
from
  json_each(:failures) as "failures"
where
  (
    (
      "schedules"."organizationId" = ("failures".value ->> 'organizationId')
      and "schedules"."parentType" = ("failures".value ->> 'parentType')
      and "schedules"."parentId" = ("failures".value ->> 'parentId')
    )
    and "schedules"."id" = ("failures".value ->> 'scheduleId')
    and "schedules"."enabledAt" is not null
    and (
      select
        count(*)
      from
        (
          select
            "runs"."status" as "status"
          from
            "runs"
          where
            "runs"."organizationId" = "schedules"."organizationId"
            and "runs"."scheduleId" = "schedules"."id"
            and "runs"."scheduledAt" >= "schedules"."enabledAt"
            and "runs"."status" in ('delivered', 'failed')
          order by
            "runs"."scheduledAt" desc
          limit
            20
        )
      where
        "status" = 'failed'
    ) >= 20
  );

-- recordResults
update "runs"
set
  "status" = ("results".value ->> 'status'),
  "attempts" = ("results".value ->> 'attempts'),
  "lastError" = ("results".value ->> 'lastError'),
  "sendAfter" = ("results".value ->> 'sendAfter'),
  "updatedAt" = :now
from
  json_each(:results) as "results"
where
  (
    (
      "runs"."organizationId" = ("results".value ->> 'organizationId')
      and "runs"."id" = ("results".value ->> 'id')
    )
    and "runs"."status" = 'pending'
  );

-- selectDeliveries
select
  "runs"."organizationId" as "organizationId",
  "runs"."scheduleId",
  "runs"."scheduledAt",
  "runs"."id" as "id",
  "runs"."parentType" as "parentType",
  "runs"."parentId" as "parentId",
  "runs"."attempts",
  "runs"."lastError",
  "schedules"."cron",
  "schedules"."timezone",
  "runEndpoints"."url",
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
  left join "runEndpoints" on (
    "runEndpoints"."organizationId" = "runs"."organizationId"
    and "runEndpoints"."createdAt" <= "runs"."createdAt"
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

-- src/delivery/outbox.ts

-- leaseSent
update "runs"
set
  "sendAfter" = case
    when ("sent".value ->> 'hasEndpoint') then :leaseExpiresAt
  end
from
  json_each(:sent) as "sent"
where
  (
    (
      "runs"."organizationId" = ("sent".value ->> 'organizationId')
      and "runs"."id" = ("sent".value ->> 'id')
    )
    and "runs"."sendAfter" <= :now
  );

-- selectToSend
select
  "runs"."organizationId" as "organizationId",
  "runs"."id",
  "runs"."attempts",
  "runEndpoints"."organizationId" is not null as "hasEndpoint",
  coalesce("runEndpoints"."slowUntil" > :now, false) as "isSlow"
from
  "runs"
  left join "runEndpoints" on (
    "runEndpoints"."organizationId" = "runs"."organizationId"
    and "runEndpoints"."createdAt" <= "runs"."createdAt"
  )
where
  "runs"."sendAfter" <= :now
order by
  "runs"."sendAfter" asc
limit
  + 1000;
