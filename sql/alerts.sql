-- src/alerts/alerts.ts

-- removeAlerts
delete from "alerts"
where
  ("alerts"."database", "alerts"."name") in (
    select
      ("removed".value ->> 'database'),
      ("removed".value ->> 'name')
    from
      json_each(:removed) as "removed"
  );

-- selectAlerts
select
  "database",
  "name",
  "begunAt",
  "sentAt",
  "endsAt"
from
  "alerts"
where
  "alerts"."database" = + :about
  and "alerts"."name" <> 'late';

-- storeAlerts
insert into
  "alerts" ("database", "name", "begunAt", "sentAt", "endsAt")
select
  ("stored".value ->> 'database') as "database",
  ("stored".value ->> 'name') as "name",
  ("stored".value ->> 'begunAt') as "begunAt",
  ("stored".value ->> 'sentAt') as "sentAt",
  ("stored".value ->> 'endsAt') as "endsAt"
from
  json_each(:stored) as "stored"
where
  true
on conflict ("alerts"."database", "alerts"."name") do update
set
  "sentAt" = coalesce("alerts"."sentAt", excluded."sentAt"),
  "endsAt" = excluded."endsAt"
returning
  "sentAt";

-- src/alerts/ticks.ts

-- insertReports
insert into
  "tickReports" ("database", "scheduledAt", "failedCalls")
select
  value,
  :now,
  0
from
  json_each(:numbers)
where
  true
on conflict do nothing;

-- reportTick
insert into
  "tickReports" ("database", "scheduledAt", "failedCalls")
values
  (:ofTick, :now, :failed)
on conflict ("tickReports"."database") do update
set
  "scheduledAt" = max("tickReports"."scheduledAt", excluded."scheduledAt"),
  "failedCalls" = iif(excluded."failedCalls" = 0, 0, "tickReports"."failedCalls" + excluded."failedCalls")
returning
  "failedCalls";

-- selectLate
select
  "tickReports"."database",
  "tickReports"."scheduledAt",
  "alerts"."begunAt",
  "alerts"."sentAt"
from
  "tickReports"
  left join "alerts" on (
    "alerts"."database" = "tickReports"."database"
    and "alerts"."name" = 'late'
  )
where
  (
    "tickReports"."database" in (
      select
        value
      from
        json_each(:numbers)
    )
    and (
      "tickReports"."scheduledAt" <= :lateBefore
      or "alerts"."name" is not null
    )
  );
