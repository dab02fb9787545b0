-- src/db/directory.ts

-- selectPlaces
select
  "organizationId",
  "database",
  "movingTo"
from
  "directory"
where
  "directory"."organizationId" in (
    select
      value
    from
      json_each(:organizationIds)
  );

-- src/db/pass.ts

-- insertPass
insert into
  "passes" ("name", "dueAt", "cursor")
values
  (:pass, :dueAt, '')
on conflict do nothing;

-- movePass
update "passes"
set
  "dueAt" = + :nextDueAt,
  "cursor" = + :nextCursor
where
  (
    "passes"."name" = + :pass
    and "passes"."dueAt" = + :dueAt
    and "passes"."cursor" = + :passCursor
  );

-- selectPass
select
  "dueAt",
  "cursor"
from
  "passes"
where
  "passes"."name" = + :pass;
