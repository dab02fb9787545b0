-- src/resources/events/delivery/statements.ts

-- markQueued
update "eventEndpoints"
set
  "leaseId" = + null,
  "leaseExpiresAt" = + :queuedUntil
from
  json_each(:found) as "found"
where
  (
    (
      "eventEndpoints"."organizationId" = ("found".value ->> 'organizationId')
      and "eventEndpoints"."id" = ("found".value ->> 'id')
    )
    and (
      (
        "eventEndpoints"."disabledAt" is null
        and (
          "eventEndpoints"."nextAttemptAt" is null
          or "eventEndpoints"."nextAttemptAt" <= :now
        )
      )
      and (
        "eventEndpoints"."leaseExpiresAt" is null
        or "eventEndpoints"."leaseExpiresAt" <= :now
      )
    )
    and (
      not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "eventEndpoints"."organizationId"
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
            "brakes"."kind" = 'deliveries'
        )
        and not exists (
          select
            1
          from
            "organizationBrakes"
          where
            "organizationBrakes"."organizationId" = "eventEndpoints"."organizationId"
            and "organizationBrakes"."kind" = 'deliveries'
        )
      )
    )
  );

-- recordDisabling
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
          "last"."organizationId" = "eventEndpoints"."organizationId"
      ),
      0
    ) + 1
  ) + row_number() over (
    partition by
      "eventEndpoints"."organizationId"
  ) - 1 as "sequence",
  substr(:event.id, 1, 24) || lower(hex(randomblob(6))) as "id",
  'event-endpoint.disabled' as "type",
  "id" as "resourceId",
  null as "parentId",
  "url" as "resourceName",
  null as "projectId",
  null as "apiKeyId",
  null as "apiKeyName",
  null as "userId",
  null as "requestId"
from
  "eventEndpoints"
where
  (
    (
      "eventEndpoints"."organizationId" = + :organizationId
      and "eventEndpoints"."id" = + :endpointId
    )
    and "eventEndpoints"."disabledAt" = + :disabledAt
    and changes() > 0
  );

-- selectBehind
select
  "organizationId",
  "id"
from
  "eventEndpoints"
where
  (
    (
      (
        "eventEndpoints"."disabledAt" is null
        and (
          "eventEndpoints"."nextAttemptAt" is null
          or "eventEndpoints"."nextAttemptAt" <= :now
        )
      )
      and (
        "eventEndpoints"."leaseExpiresAt" is null
        or "eventEndpoints"."leaseExpiresAt" <= :now
      )
    )
    and (
      not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "eventEndpoints"."organizationId"
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
            "brakes"."kind" = 'deliveries'
        )
        and not exists (
          select
            1
          from
            "organizationBrakes"
          where
            "organizationBrakes"."organizationId" = "eventEndpoints"."organizationId"
            and "organizationBrakes"."kind" = 'deliveries'
        )
      )
    )
    and (
      "eventEndpoints"."messageEnd" is not null
      or coalesce(
        (
          select
            max(
              (
                (
                  "eventEndpoints"."types" is null
                  or (
                    instr("eventEndpoints"."types", '"' || "near"."type" || '"') > 0
                    or instr("eventEndpoints"."types", '"' || substr("near"."type", 1, instr("near"."type", '.')) || '*' || '"') > 0
                  )
                )
                and (
                  "eventEndpoints"."projectId" is null
                  or "near"."projectId" = "eventEndpoints"."projectId"
                )
              )
            )
            or count(*) = 1000
            or min("near"."sequence") <= :dayAgo
          from
            (
              select
                "sequence",
                "type",
                "projectId"
              from
                "auditEvents"
              where
                (
                  "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
                  and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
                )
              order by
                "auditEvents"."sequence" asc
              limit
                + 1000
            ) "near"
        ),
        0
      )
    )
  )
limit
  + 1000;

-- selectMessage
select
  "auditEvents"."sequence",
  "auditEvents"."id",
  "auditEvents"."type",
  "auditEvents"."resourceId",
  "auditEvents"."parentId",
  "auditEvents"."resourceName",
  "auditEvents"."projectId",
  "auditEvents"."apiKeyId",
  "auditEvents"."apiKeyName",
  "auditEvents"."userId",
  "auditEvents"."requestId",
  "users"."name" as "user",
  "projects"."name" as "project"
from
  "eventEndpoints"
  inner join "auditEvents" on (
    "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
    and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
    and "auditEvents"."sequence" <= "eventEndpoints"."messageEnd"
  )
  left join "users" on (
    "eventEndpoints"."format" = + 'text'
    and "users"."organizationId" = "auditEvents"."organizationId"
    and "users"."id" = "auditEvents"."userId"
  )
  left join "projects" on (
    "eventEndpoints"."format" = + 'text'
    and "projects"."organizationId" = "auditEvents"."organizationId"
    and "projects"."id" = "auditEvents"."projectId"
  )
where
  (
    (
      "eventEndpoints"."organizationId" = + :organizationId
      and "eventEndpoints"."id" = + :endpointId
    )
    and "eventEndpoints"."leaseId" = + :leaseId
    and (
      (
        "eventEndpoints"."types" is null
        or (
          instr("eventEndpoints"."types", '"' || "auditEvents"."type" || '"') > 0
          or instr(
            "eventEndpoints"."types",
            '"' || substr("auditEvents"."type", 1, instr("auditEvents"."type", '.')) || '*' || '"'
          ) > 0
        )
      )
      and (
        "eventEndpoints"."projectId" is null
        or "auditEvents"."projectId" = "eventEndpoints"."projectId"
      )
    )
  )
order by
  "auditEvents"."sequence" asc;

-- storeResult
update "eventEndpoints"
set
  "deliveredSequence" = case
    when "eventEndpoints"."messageId" = + :acceptedMessageId then "eventEndpoints"."messageEnd"
    else "eventEndpoints"."deliveredSequence"
  end,
  "messageId" = case
    when "eventEndpoints"."messageId" = + :acceptedMessageId then null
    else "eventEndpoints"."messageId"
  end,
  "messageEnd" = case
    when "eventEndpoints"."messageId" = + :acceptedMessageId then null
    else "eventEndpoints"."messageEnd"
  end,
  "leaseId" = + null,
  "leaseExpiresAt" = + null,
  "failures" = case
    when "eventEndpoints"."updatedAt" = + :takenUpdatedAt then cast(:failures as integer)
    else "eventEndpoints"."failures"
  end,
  "failingSince" = case
    when "eventEndpoints"."updatedAt" = + :takenUpdatedAt then :failingSince
    else "eventEndpoints"."failingSince"
  end,
  "nextAttemptAt" = case
    when "eventEndpoints"."updatedAt" = + :takenUpdatedAt then :nextAttemptAt
    else "eventEndpoints"."nextAttemptAt"
  end,
  "disabledAt" = coalesce(
    "eventEndpoints"."disabledAt",
    case
      when "eventEndpoints"."updatedAt" = + :takenUpdatedAt then :disabledAt
      else null
    end
  ),
  "disabledReason" = coalesce(
    "eventEndpoints"."disabledReason",
    case
      when "eventEndpoints"."updatedAt" = + :takenUpdatedAt then :disabledReason
      else null
    end
  ),
  "lastAttempts" = case
    when :attempt is null then "eventEndpoints"."lastAttempts"
    else json_remove('[' || :attempt || coalesce(',' || substr("eventEndpoints"."lastAttempts", 2), ']'), '$[10]')
  end
where
  (
    (
      "eventEndpoints"."organizationId" = + :organizationId
      and "eventEndpoints"."id" = + :endpointId
    )
    and "eventEndpoints"."leaseId" = + :leaseId
  )
returning
  case
    when :acceptedMessageId is null then 0
    else coalesce(
      (
        select
          max(
            (
              (
                "eventEndpoints"."types" is null
                or (
                  instr("eventEndpoints"."types", '"' || "near"."type" || '"') > 0
                  or instr("eventEndpoints"."types", '"' || substr("near"."type", 1, instr("near"."type", '.')) || '*' || '"') > 0
                )
              )
              and (
                "eventEndpoints"."projectId" is null
                or "near"."projectId" = "eventEndpoints"."projectId"
              )
            )
          )
          or count(*) = 1000
          or false
        from
          (
            select
              "sequence",
              "type",
              "projectId"
            from
              "auditEvents"
            where
              (
                "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
                and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
              )
            order by
              "auditEvents"."sequence" asc
            limit
              + 1000
          ) "near"
      ),
      0
    )
  end as "isBehind";

-- take
update "eventEndpoints"
set
  "messageId" = coalesce("eventEndpoints"."messageId", :newMessageId),
  "messageEnd" = coalesce(
    "eventEndpoints"."messageEnd",
    (
      select
        case
          when count(*) < (
            select
              case
                when not "batch" then 1
                when "format" = 'text' then 20
                else 100
              end
            from
              "eventEndpoints" "sized"
            where
              (
                "sized"."organizationId" = + :organizationId
                and "sized"."id" = + :endpointId
              )
          ) then (
            select
              max("examined"."sequence")
            from
              (
                select
                  "sequence",
                  "type",
                  "projectId"
                from
                  "auditEvents"
                where
                  (
                    "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
                    and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
                  )
                order by
                  "auditEvents"."sequence" asc
                limit
                  + 2500
              ) "examined"
          )
          else max("sequence")
        end
      from
        (
          select
            "examined"."sequence" as "sequence"
          from
            (
              select
                "sequence",
                "type",
                "projectId"
              from
                "auditEvents"
              where
                (
                  "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
                  and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
                )
              order by
                "auditEvents"."sequence" asc
              limit
                + 2500
            ) "examined"
          where
            (
              (
                "eventEndpoints"."types" is null
                or (
                  instr("eventEndpoints"."types", '"' || "examined"."type" || '"') > 0
                  or instr(
                    "eventEndpoints"."types",
                    '"' || substr("examined"."type", 1, instr("examined"."type", '.')) || '*' || '"'
                  ) > 0
                )
              )
              and (
                "eventEndpoints"."projectId" is null
                or "examined"."projectId" = "eventEndpoints"."projectId"
              )
            )
          limit
            (
              select
                case
                  when not "batch" then 1
                  when "format" = 'text' then 20
                  else 100
                end
              from
                "eventEndpoints" "sized"
              where
                (
                  "sized"."organizationId" = + :organizationId
                  and "sized"."id" = + :endpointId
                )
            )
        )
    )
  ),
  "leaseId" = + :leaseId,
  "leaseExpiresAt" = + :leaseExpiresAt
where
  (
    (
      "eventEndpoints"."organizationId" = + :organizationId
      and "eventEndpoints"."id" = + :endpointId
    )
    and (
      "eventEndpoints"."leaseId" is null
      or "eventEndpoints"."leaseExpiresAt" <= :now
    )
    and (
      "eventEndpoints"."disabledAt" is null
      and (
        "eventEndpoints"."nextAttemptAt" is null
        or "eventEndpoints"."nextAttemptAt" <= :now
      )
    )
    and (
      "eventEndpoints"."messageEnd" is not null
      or "eventEndpoints"."deliveredSequence" < (
        select
          max("sequence")
        from
          "auditEvents"
        where
          "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
      )
    )
    and (
      not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "eventEndpoints"."organizationId"
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
            "brakes"."kind" = 'deliveries'
        )
        and not exists (
          select
            1
          from
            "organizationBrakes"
          where
            "organizationBrakes"."organizationId" = "eventEndpoints"."organizationId"
            and "organizationBrakes"."kind" = 'deliveries'
        )
      )
    )
  )
returning
  "organizationId",
  "id",
  "format",
  "sealedUrl",
  "sealedSecret",
  case
    when coalesce("eventEndpoints"."previousExpiresAt" > :now, false) then "previousSealedSecret"
  end as "previousSealedSecret",
  "messageId" as "messageId",
  "messageEnd" as "messageEnd",
  "failures",
  "failingSince",
  (
    select
      max("sequence")
    from
      "auditEvents"
    where
      "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
  ) as "end",
  "updatedAt";

-- src/resources/work/delivery/check-runs.ts

-- postpone
update "runs"
set
  "checkAt" = ("postponed".value ->> 'newCheckAt') || ' ' || substr("runs"."checkAt", -24)
from
  json_each(:postponed) as "postponed"
where
  (
    (
      "runs"."organizationId" = ("postponed".value ->> 'organizationId')
      and "runs"."id" = ("postponed".value ->> 'id')
    )
    and "runs"."checkAt" = ("postponed".value ->> 'checkAt')
    and (
      ("postponed".value ->> 'newCheckAt') <> '9999-12-31T23:59:59.999Z'
      or not not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "runs"."organizationId"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
      )
    )
  );

-- recordTimeouts
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
  "runs"."organizationId" as "organizationId",
  max(
    :event.firstSequence,
    coalesce(
      (
        select
          max("sequence")
        from
          "auditEvents" "last"
        where
          "last"."organizationId" = "runs"."organizationId"
      ),
      0
    ) + 1
  ) + row_number() over (
    partition by
      "runs"."organizationId"
  ) - 1 as "sequence",
  substr(:event.id, 1, 24) || lower(hex(randomblob(6))) as "id",
  'run.failed' as "type",
  "runs"."id" as "resourceId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "parentId",
  "schedules"."name" as "resourceName",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  null as "apiKeyId",
  null as "apiKeyName",
  null as "userId",
  null as "requestId"
from
  json_each(:failedRuns) as "failedRuns"
  inner join "runs" on (
    (
      "runs"."organizationId" = ("failedRuns".value ->> 'organizationId')
      and "runs"."id" = ("failedRuns".value ->> 'id')
    )
    and (
      "runs"."status" = ("failedRuns".value ->> 'status')
      and "runs"."checkAt" = ("failedRuns".value ->> 'checkAt')
    )
  )
  inner join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  );

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
        substr("runs"."checkAt", -24),
        strftime('%Y-%m-%dT%H:%M:%fZ', "runs"."startedAt", "schedules"."maxRunSeconds" || ' seconds')
      ) <= :now,
      false
    )
  ) as "isSuperseded",
  "runEndpoints"."organizationId" is not null as "hasEndpoint",
  coalesce("runEndpoints"."slowUntil" > :now, false) as "isSlow",
  (
    "schedules"."id" is null
    or not (
      "projects"."id" is not null
      or "agents"."id" is not null
    )
  ) as "isDeleted",
  not (
    (
      not exists (
        select
          1
        from
          "brakes"
        where
          "brakes"."kind" = 'deliveries'
      )
      and not exists (
        select
          1
        from
          "organizationBrakes"
        where
          "organizationBrakes"."organizationId" = "runs"."organizationId"
          and "organizationBrakes"."kind" = 'deliveries'
      )
    )
  ) as "isStopped",
  not (
    not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = "runs"."organizationId"
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
    )
  ) as "isSuspended"
from
  "runs"
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
  left join "runEndpoints" on (
    "runEndpoints"."organizationId" = "runs"."organizationId"
    and "runEndpoints"."createdAt" <= coalesce("runs"."redeliveredAt", "runs"."createdAt")
  )
where
  (
    "runs"."checkAt" <= :now
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = "runs"."organizationId"
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
        and "halts"."kind" <> 'suspended'
    )
  )
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
  "nextAttemptAt" = + null,
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
    )
    and (
      "runs"."status" = ("checked".value ->> 'status')
      and "runs"."checkAt" = ("checked".value ->> 'checkAt')
    )
  );

-- src/resources/work/delivery/consumer.ts

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
  "slowUntil" = + :slowUntil
where
  ("runEndpoints"."organizationId", "runEndpoints"."url", "runEndpoints"."createdAt") in (
    select
      ("slowEndpoints".value ->> 'organizationId'),
      ("slowEndpoints".value ->> 'url'),
      ("slowEndpoints".value ->> 'endpointCreatedAt')
    from
      json_each(:slowEndpoints) as "slowEndpoints"
  );

-- recordFailed
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
  "runs"."organizationId" as "organizationId",
  max(
    :event.firstSequence,
    coalesce(
      (
        select
          max("sequence")
        from
          "auditEvents" "last"
        where
          "last"."organizationId" = "runs"."organizationId"
      ),
      0
    ) + 1
  ) + row_number() over (
    partition by
      "runs"."organizationId"
  ) - 1 as "sequence",
  substr(:event.id, 1, 24) || lower(hex(randomblob(6))) as "id",
  'run.failed' as "type",
  "runs"."id" as "resourceId",
  case "runs"."parentType"
    when 'agent' then "runs"."parentId"
  end as "parentId",
  "schedules"."name" as "resourceName",
  case "runs"."parentType"
    when 'project' then "runs"."parentId"
  end as "projectId",
  null as "apiKeyId",
  null as "apiKeyName",
  null as "userId",
  null as "requestId"
from
  json_each(:failedRuns) as "failedRuns"
  inner join "runs" on (
    (
      "runs"."organizationId" = ("failedRuns".value ->> 'organizationId')
      and "runs"."id" = ("failedRuns".value ->> 'id')
    )
    and (
      (
        "runs"."status" = 'pending'
        and (
          "runs"."redeliveredAt" is ("failedRuns".value ->> 'redeliveredAt')
          or (
            ("failedRuns".value ->> 'status') = 'succeeded'
            or ("failedRuns".value ->> 'failure') is 'task'
          )
        )
      )
      or (
        "runs"."status" = 'delivered'
        and "runs"."claimId" is null
        and (
          ("failedRuns".value ->> 'status') = 'succeeded'
          or ("failedRuns".value ->> 'failure') is 'task'
        )
      )
    )
  )
  inner join "schedules" on (
    "schedules"."organizationId" = "runs"."organizationId"
    and "schedules"."id" = "runs"."scheduleId"
  );

-- recordGone
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
          "last"."organizationId" = "runEndpoints"."organizationId"
      ),
      0
    ) + 1
  ) + row_number() over (
    partition by
      "runEndpoints"."organizationId"
  ) - 1 as "sequence",
  substr(:event.id, 1, 24) || lower(hex(randomblob(6))) as "id",
  'run-endpoint.deleted' as "type",
  "organizationId" as "resourceId",
  null as "parentId",
  null as "resourceName",
  null as "projectId",
  null as "apiKeyId",
  null as "apiKeyName",
  null as "userId",
  null as "requestId"
from
  "runEndpoints"
where
  ("runEndpoints"."organizationId", "runEndpoints"."url", "runEndpoints"."createdAt") in (
    select
      ("goneEndpoints".value ->> 'organizationId'),
      ("goneEndpoints".value ->> 'url'),
      ("goneEndpoints".value ->> 'endpointCreatedAt')
    from
      json_each(:goneEndpoints) as "goneEndpoints"
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
  "updatedAt" = case
    when ("results".value ->> 'lastAttempt') is null then "runs"."updatedAt"
    else :now
  end
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
    when coalesce("runEndpoints"."previousExpiresAt" > :now, false) then "runEndpoints"."previousSealedSecret"
  end as "previousSealedSecret"
from
  json_each(:references) as "references"
  cross join "runs"
  inner join "schedules" on (
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
    and "runs"."status" = + 'pending'
    and (
      "projects"."id" is not null
      or "agents"."id" is not null
    )
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = "runs"."organizationId"
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
          "brakes"."kind" = 'deliveries'
      )
      and not exists (
        select
          1
        from
          "organizationBrakes"
        where
          "organizationBrakes"."organizationId" = "runs"."organizationId"
          and "organizationBrakes"."kind" = 'deliveries'
      )
    )
  );
