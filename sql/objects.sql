-- src/objects/find-orphans.ts

-- addUnreferencedToOrphans
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  "listed".value as "objectKey",
  :deleteAfter as "deleteAfter"
from
  json_each(:objectKeys) as "listed"
where
  not (
    exists (
      select
        1
      from
        "sessionFiles"
      where
        "sessionFiles"."objectKey" = "listed".value
    )
    or exists (
      select
        1
      from
        "profilePictures"
      where
        "profilePictures"."objectKey" = "listed".value
    )
    or exists (
      select
        1
      from
        "skillVersions"
      where
        "skillVersions"."objectKey" = "listed".value
    )
  )
on conflict do nothing;

-- endSearch
delete from "objectSearches"
where
  "objectSearches"."startedAt" = + :startedAt;

-- saveCursor
update "objectSearches"
set
  "cursor" = + :searchCursor
where
  "objectSearches"."startedAt" = + :startedAt;

-- selectSearch
select
  "startedAt",
  "cursor"
from
  "objectSearches"
where
  "objectSearches"."startedAt" <= :now
order by
  "objectSearches"."startedAt" asc
limit
  + 1;

-- src/objects/sweep.ts

-- removeFromOrphans
delete from "orphanedObjects"
where
  "orphanedObjects"."objectKey" in (
    select
      value
    from
      json_each(:objectKeys)
  );

-- selectDue
select
  "objectKey",
  (
    exists (
      select
        1
      from
        "sessionFiles"
      where
        "sessionFiles"."objectKey" = "orphanedObjects"."objectKey"
    )
    or exists (
      select
        1
      from
        "profilePictures"
      where
        "profilePictures"."objectKey" = "orphanedObjects"."objectKey"
    )
    or exists (
      select
        1
      from
        "skillVersions"
      where
        "skillVersions"."objectKey" = "orphanedObjects"."objectKey"
    )
  ) as "isReferenced"
from
  "orphanedObjects"
where
  (
    "orphanedObjects"."deleteAfter" <= :now
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = substr("orphanedObjects"."objectKey", instr("orphanedObjects"."objectKey", '/') + 1, 36)
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
        and "halts"."kind" <> 'suspended'
    )
  )
order by
  "orphanedObjects"."deleteAfter" asc
limit
  + 1000;

-- selectReferenced
select
  "due".value as "objectKey"
from
  json_each(:objectKeys) as "due"
where
  (
    exists (
      select
        1
      from
        "sessionFiles"
      where
        "sessionFiles"."objectKey" = "due".value
    )
    or exists (
      select
        1
      from
        "profilePictures"
      where
        "profilePictures"."objectKey" = "due".value
    )
    or exists (
      select
        1
      from
        "skillVersions"
      where
        "skillVersions"."objectKey" = "due".value
    )
  );
