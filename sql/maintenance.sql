-- src/maintenance/ended-keys.ts

-- endedPage.0
update "apiKeys"
set
  "createdByKeyId" = (
    select
      "creator"."createdByKeyId"
    from
      "apiKeys" as "creator"
    where
      "creator"."organizationId" = "apiKeys"."organizationId"
      and "creator"."id" = "apiKeys"."createdByKeyId"
  )
where
  "apiKeys"."hash" in (
    select
      "child"."hash"
    from
      (
        select
          "ended"."organizationId",
          "ended"."id",
          "ended"."hash"
        from
          (
            values
              ('key', :keysEndedBy),
              ('grant', :keysEndedBy),
              ('session', :sessionsEndedBy)
          ) as "kept"
          cross join "apiKeys" as "ended" on "ended"."kind" = "kept"."column1"
          and coalesce("ended"."revokedAt", "ended"."expiresAt") <= "kept"."column2"
          and "ended"."movedTo" is null
          and not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "ended"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          1000
      ) as "ended"
      cross join "apiKeys" as "child" on (
        "child"."organizationId" = "ended"."organizationId"
        and "child"."createdByKeyId" = "ended"."id"
      )
    limit
      1000
  );

-- endedPage.1
update "signInRules"
set
  "createdByKeyId" = (
    select
      "creator"."createdByKeyId"
    from
      "apiKeys" as "creator"
    where
      "creator"."organizationId" = "signInRules"."organizationId"
      and "creator"."id" = "signInRules"."createdByKeyId"
  )
where
  ("signInRules"."organizationId", "signInRules"."createdByKeyId") in (
    select
      "ended"."organizationId",
      "ended"."id"
    from
      (
        select
          "ended"."organizationId",
          "ended"."id",
          "ended"."hash"
        from
          (
            values
              ('key', :keysEndedBy),
              ('grant', :keysEndedBy),
              ('session', :sessionsEndedBy)
          ) as "kept"
          cross join "apiKeys" as "ended" on "ended"."kind" = "kept"."column1"
          and coalesce("ended"."revokedAt", "ended"."expiresAt") <= "kept"."column2"
          and "ended"."movedTo" is null
          and not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "ended"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          1000
      ) as "ended"
  );

-- endedPage.2
update "identities"
set
  "roleByKeyId" = (
    select
      "creator"."createdByKeyId"
    from
      "apiKeys" as "creator"
    where
      "creator"."organizationId" = "identities"."organizationId"
      and "creator"."id" = "identities"."roleByKeyId"
  )
where
  ("identities"."organizationId", "identities"."id") in (
    select
      "identities"."organizationId",
      "identities"."id"
    from
      "identities" indexed by "identitiesByRoleKey"
    where
      (
        "identities"."roleByKeyId" is not null
        and ("identities"."organizationId", "identities"."roleByKeyId") in (
          select
            "ended"."organizationId",
            "ended"."id"
          from
            (
              select
                "ended"."organizationId",
                "ended"."id",
                "ended"."hash"
              from
                (
                  values
                    ('key', :keysEndedBy),
                    ('grant', :keysEndedBy),
                    ('session', :sessionsEndedBy)
                ) as "kept"
                cross join "apiKeys" as "ended" on "ended"."kind" = "kept"."column1"
                and coalesce("ended"."revokedAt", "ended"."expiresAt") <= "kept"."column2"
                and "ended"."movedTo" is null
                and not exists (
                  select
                    1
                  from
                    "halts"
                  where
                    "halts"."organizationId" = "ended"."organizationId"
                    and (
                      "halts"."until" is null
                      or "halts"."until" > :now
                    )
                    and "halts"."kind" <> 'suspended'
                )
              limit
                1000
            ) as "ended"
        )
      )
  );

-- endedPage.3
update "identities"
set
  "linkedByKeyId" = (
    select
      "creator"."createdByKeyId"
    from
      "apiKeys" as "creator"
    where
      "creator"."organizationId" = "identities"."organizationId"
      and "creator"."id" = "identities"."linkedByKeyId"
  )
where
  ("identities"."organizationId", "identities"."id") in (
    select
      "identities"."organizationId",
      "identities"."id"
    from
      "identities" indexed by "identitiesByLinkKey"
    where
      (
        "identities"."linkedByKeyId" is not null
        and ("identities"."organizationId", "identities"."linkedByKeyId") in (
          select
            "ended"."organizationId",
            "ended"."id"
          from
            (
              select
                "ended"."organizationId",
                "ended"."id",
                "ended"."hash"
              from
                (
                  values
                    ('key', :keysEndedBy),
                    ('grant', :keysEndedBy),
                    ('session', :sessionsEndedBy)
                ) as "kept"
                cross join "apiKeys" as "ended" on "ended"."kind" = "kept"."column1"
                and coalesce("ended"."revokedAt", "ended"."expiresAt") <= "kept"."column2"
                and "ended"."movedTo" is null
                and not exists (
                  select
                    1
                  from
                    "halts"
                  where
                    "halts"."organizationId" = "ended"."organizationId"
                    and (
                      "halts"."until" is null
                      or "halts"."until" > :now
                    )
                    and "halts"."kind" <> 'suspended'
                )
              limit
                1000
            ) as "ended"
        )
      )
  );

-- endedPage.4
update "invitations"
set
  "createdByKeyId" = (
    select
      "creator"."createdByKeyId"
    from
      "apiKeys" as "creator"
    where
      "creator"."organizationId" = "invitations"."organizationId"
      and "creator"."id" = "invitations"."createdByKeyId"
  )
where
  ("invitations"."organizationId", "invitations"."createdByKeyId") in (
    select
      "ended"."organizationId",
      "ended"."id"
    from
      (
        select
          "ended"."organizationId",
          "ended"."id",
          "ended"."hash"
        from
          (
            values
              ('key', :keysEndedBy),
              ('grant', :keysEndedBy),
              ('session', :sessionsEndedBy)
          ) as "kept"
          cross join "apiKeys" as "ended" on "ended"."kind" = "kept"."column1"
          and coalesce("ended"."revokedAt", "ended"."expiresAt") <= "kept"."column2"
          and "ended"."movedTo" is null
          and not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "ended"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          1000
      ) as "ended"
  );

-- endedPage.5
delete from "skillFeeds"
where
  ("skillFeeds"."organizationId", "skillFeeds"."apiKeyId") in (
    select
      "ended"."organizationId",
      "ended"."id"
    from
      (
        select
          "ended"."organizationId",
          "ended"."id",
          "ended"."hash"
        from
          (
            values
              ('key', :keysEndedBy),
              ('grant', :keysEndedBy),
              ('session', :sessionsEndedBy)
          ) as "kept"
          cross join "apiKeys" as "ended" on "ended"."kind" = "kept"."column1"
          and coalesce("ended"."revokedAt", "ended"."expiresAt") <= "kept"."column2"
          and "ended"."movedTo" is null
          and not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "ended"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          1000
      ) as "ended"
  );

-- endedPage.6
delete from "apiKeys"
where
  "apiKeys"."hash" in (
    select
      "ended"."hash"
    from
      (
        select
          "ended"."organizationId",
          "ended"."id",
          "ended"."hash"
        from
          (
            values
              ('key', :keysEndedBy),
              ('grant', :keysEndedBy),
              ('session', :sessionsEndedBy)
          ) as "kept"
          cross join "apiKeys" as "ended" on "ended"."kind" = "kept"."column1"
          and coalesce("ended"."revokedAt", "ended"."expiresAt") <= "kept"."column2"
          and "ended"."movedTo" is null
          and not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "ended"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          1000
      ) as "ended"
    where
      not exists (
        select
          1
        from
          "apiKeys" as "child"
        where
          (
            "child"."organizationId" = "ended"."organizationId"
            and "child"."createdByKeyId" = "ended"."id"
          )
      )
      and not exists (
        select
          1
        from
          "signInRules"
        where
          "signInRules"."organizationId" = "ended"."organizationId"
          and "signInRules"."createdByKeyId" = "ended"."id"
      )
      and not exists (
        select
          1
        from
          "identities"
        where
          "identities"."organizationId" = "ended"."organizationId"
          and "identities"."roleByKeyId" = "ended"."id"
      )
      and not exists (
        select
          1
        from
          "identities"
        where
          "identities"."organizationId" = "ended"."organizationId"
          and "identities"."linkedByKeyId" = "ended"."id"
      )
      and not exists (
        select
          1
        from
          "invitations"
        where
          "invitations"."organizationId" = "ended"."organizationId"
          and "invitations"."createdByKeyId" = "ended"."id"
      )
  );

-- selectEnded
select
  1
from
  (
    select
      "ended"."organizationId",
      "ended"."id",
      "ended"."hash"
    from
      (
        values
          ('key', :keysEndedBy),
          ('grant', :keysEndedBy),
          ('session', :sessionsEndedBy)
      ) as "kept"
      cross join "apiKeys" as "ended" on "ended"."kind" = "kept"."column1"
      and coalesce("ended"."revokedAt", "ended"."expiresAt") <= "kept"."column2"
      and "ended"."movedTo" is null
      and not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "ended"."organizationId"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    limit
      1
  ) as "ended";

-- src/maintenance/event-bytes.ts

-- countEvents
insert into
  "eventUsage" ("organizationId", "countedTo", "bytes", "removedTo")
select
  "new"."organizationId" as "organizationId",
  max("new"."sequence") as "countedTo",
  sum("new"."bytes") as "bytes",
  -1 as "removedTo"
from
  (
    select
      "auditEvents"."organizationId" as "organizationId",
      "auditEvents"."sequence" as "sequence",
      octet_length (
        json_array(
          "auditEvents"."organizationId",
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
          "auditEvents"."requestId"
        )
      ) as "bytes"
    from
      "organizations"
      cross join "auditEvents" on "auditEvents"."organizationId" = "organizations"."id"
      and "auditEvents"."sequence" > coalesce(
        (
          select
            "countedTo"
          from
            "eventUsage"
          where
            "eventUsage"."organizationId" = "organizations"."id"
        ),
        -1
      )
      and "auditEvents"."sequence" < :countedBefore
    where
      "organizations"."id" > :after
      and "organizations"."id" <= :last
      and not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "organizations"."id"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    order by
      "organizations"."id",
      "auditEvents"."sequence"
    limit
      5000
  ) as "new"
group by
  "new"."organizationId"
on conflict ("eventUsage"."organizationId") do update
set
  "countedTo" = excluded."countedTo",
  "bytes" = "eventUsage"."bytes" + excluded."bytes";

-- findExcess
select
  1
from
  (
    select
      "auditEvents"."organizationId" as "organizationId",
      "auditEvents"."sequence" as "sequence",
      octet_length (
        json_array(
          "auditEvents"."organizationId",
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
          "auditEvents"."requestId"
        )
      ) as "bytes",
      "eventUsage"."bytes" as "total"
    from
      "organizations"
      cross join "eventUsage" on "eventUsage"."organizationId" = "organizations"."id"
      and "eventUsage"."bytes" > :byteLimit
      cross join "auditEvents" on "auditEvents"."organizationId" = "organizations"."id"
      and "auditEvents"."sequence" >= :oldestEvent
      and "auditEvents"."sequence" < :removableBefore
      and "auditEvents"."sequence" <= "eventUsage"."countedTo"
    where
      "organizations"."id" > :after
      and "organizations"."id" <= :last
      and not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "organizations"."id"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    order by
      "organizations"."id",
      "auditEvents"."sequence"
    limit
      1
  ) as "oldest";

-- findUncounted
select
  1
from
  (
    select
      "auditEvents"."organizationId" as "organizationId",
      "auditEvents"."sequence" as "sequence",
      octet_length (
        json_array(
          "auditEvents"."organizationId",
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
          "auditEvents"."requestId"
        )
      ) as "bytes"
    from
      "organizations"
      cross join "auditEvents" on "auditEvents"."organizationId" = "organizations"."id"
      and "auditEvents"."sequence" > coalesce(
        (
          select
            "countedTo"
          from
            "eventUsage"
          where
            "eventUsage"."organizationId" = "organizations"."id"
        ),
        -1
      )
      and "auditEvents"."sequence" < :countedBefore
    where
      "organizations"."id" > :after
      and "organizations"."id" <= :last
      and not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "organizations"."id"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    order by
      "organizations"."id",
      "auditEvents"."sequence"
    limit
      1
  ) as "new";

-- removeExcess
delete from "auditEvents"
where
  ("auditEvents"."organizationId", "auditEvents"."sequence") in (
    select
      "organizationId",
      "sequence"
    from
      (
        select
          "organizationId",
          "sequence",
          "total" - sum("bytes") over (
            partition by
              "organizationId"
            order by
              "sequence"
          ) + "bytes" as "remaining"
        from
          (
            select
              "auditEvents"."organizationId" as "organizationId",
              "auditEvents"."sequence" as "sequence",
              octet_length (
                json_array(
                  "auditEvents"."organizationId",
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
                  "auditEvents"."requestId"
                )
              ) as "bytes",
              "eventUsage"."bytes" as "total"
            from
              "organizations"
              cross join "eventUsage" on "eventUsage"."organizationId" = "organizations"."id"
              and "eventUsage"."bytes" > :byteLimit
              cross join "auditEvents" on "auditEvents"."organizationId" = "organizations"."id"
              and "auditEvents"."sequence" >= :oldestEvent
              and "auditEvents"."sequence" < :removableBefore
              and "auditEvents"."sequence" <= "eventUsage"."countedTo"
            where
              "organizations"."id" > :after
              and "organizations"."id" <= :last
              and not exists (
                select
                  1
                from
                  "halts"
                where
                  "halts"."organizationId" = "organizations"."id"
                  and (
                    "halts"."until" is null
                    or "halts"."until" > :now
                  )
                  and "halts"."kind" <> 'suspended'
              )
            order by
              "organizations"."id",
              "auditEvents"."sequence"
            limit
              5000
          ) as "oldest"
      )
    where
      "remaining" > :byteLimit
  );

-- selectLargest
select
  "eventUsage"."organizationId",
  "eventUsage"."bytes"
from
  "organizations"
  inner join "eventUsage" on (
    "eventUsage"."organizationId" = "organizations"."id"
    and "eventUsage"."bytes" > :byteLimit
  )
where
  "organizations"."id" > :after
  and "organizations"."id" <= :last
  and not exists (
    select
      1
    from
      "halts"
    where
      "halts"."organizationId" = "organizations"."id"
      and (
        "halts"."until" is null
        or "halts"."until" > :now
      )
      and "halts"."kind" <> 'suspended'
  )
order by
  "eventUsage"."bytes" desc
limit
  + 1;

-- selectWriter
select
  "sample"."apiKeyId" as "apiKeyId"
from
  (
    select
      "auditEvents"."apiKeyId" as "apiKeyId",
      octet_length (
        json_array(
          "auditEvents"."organizationId",
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
          "auditEvents"."requestId"
        )
      ) as "bytes"
    from
      "auditEvents"
    where
      "auditEvents"."organizationId" = + :organizationId
    order by
      "auditEvents"."sequence" desc
    limit
      5000
  ) as "sample"
where
  "sample"."apiKeyId" is not null
group by
  "sample"."apiKeyId"
order by
  sum("sample"."bytes") desc
limit
  + 1;

-- src/maintenance/purge.ts

-- deleteExpiredRequests
delete from "variableRequests"
where
  (
    "variableRequests"."organizationId",
    "variableRequests"."projectId",
    "variableRequests"."idempotencyKey"
  ) in (
    select
      "variableRequests"."organizationId",
      "variableRequests"."projectId",
      "variableRequests"."idempotencyKey"
    from
      "variableRequests" indexed by "variableRequestsByAge"
    where
      "variableRequests"."createdAt" <= :dayAgo
      and not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "variableRequests"."organizationId"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    order by
      "variableRequests"."createdAt"
    limit
      1000
  );

-- dropRows
update "deletions"
set
  "id" = + null,
  "row" = + null
where
  ("deletions"."organizationId", "deletions"."resourceType", "deletions"."resourceId") in (
    select
      "deletions"."organizationId",
      "deletions"."resourceType",
      "deletions"."resourceId"
    from
      "deletions" indexed by "deletionsByEnd"
    where
      "deletions"."row" is not null
      and "deletions"."finalAt" <= :now
      and not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "deletions"."organizationId"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    order by
      "deletions"."finalAt"
    limit
      1000
  );

-- markPurged
update "deletions"
set
  "purgedAt" = + :now
where
  ("deletions"."organizationId", "deletions"."resourceType", "deletions"."resourceId") in (
    select
      "pending"."organizationId",
      "pending"."resourceType",
      "pending"."resourceId"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
    where
      not exists (
        select
          1
        from
          "sessions"
        where
          "sessions"."organizationId" = "pending"."organizationId"
          and "pending"."resourceType" = + 'project'
          and "sessions"."projectId" = "pending"."resourceId"
      )
      and not exists (
        select
          1
        from
          "pullRequests"
        where
          "pullRequests"."organizationId" = "pending"."organizationId"
          and "pending"."resourceType" = + 'project'
          and "pullRequests"."projectId" = "pending"."resourceId"
      )
      and not exists (
        select
          1
        from
          "schedules"
        where
          "schedules"."organizationId" = "pending"."organizationId"
          and "schedules"."parentType" = "pending"."resourceType"
          and "schedules"."parentId" = "pending"."resourceId"
      )
      and not exists (
        select
          1
        from
          "sessionFiles"
        where
          "sessionFiles"."organizationId" = "pending"."organizationId"
          and "pending"."resourceType" = + 'session'
          and "sessionFiles"."sessionId" = "pending"."resourceId"
      )
      and not exists (
        select
          1
        from
          "profilePictures"
        where
          "profilePictures"."organizationId" = "pending"."organizationId"
          and "pending"."resourceType" = + 'user'
          and "profilePictures"."userId" = "pending"."resourceId"
      )
      and not exists (
        select
          1
        from
          "skillVersions"
        where
          "skillVersions"."organizationId" = "pending"."organizationId"
          and "pending"."resourceType" = + 'skill'
          and "skillVersions"."skillId" = "pending"."resourceId"
      )
      and not exists (
        select
          1
        from
          "skillContents"
        where
          "skillContents"."organizationId" = "pending"."organizationId"
          and "pending"."resourceType" = + 'skill'
          and "skillContents"."skillId" = "pending"."resourceId"
      )
      and not exists (
        select
          1
        from
          "runs"
        where
          "runs"."organizationId" = "pending"."organizationId"
          and "pending"."resourceType" = + 'schedule'
          and "runs"."scheduleId" = "pending"."resourceId"
      )
      and not exists (
        select
          1
        from
          "missedSpans"
        where
          "missedSpans"."organizationId" = "pending"."organizationId"
          and "pending"."resourceType" = + 'schedule'
          and "missedSpans"."scheduleId" = "pending"."resourceId"
      )
      and not exists (
        select
          1
        from
          "environmentVariables"
        where
          "environmentVariables"."organizationId" = "pending"."organizationId"
          and "pending"."resourceType" = + 'project'
          and "environmentVariables"."projectId" = "pending"."resourceId"
      )
      and not exists (
        select
          1
        from
          "variableRequests"
        where
          "variableRequests"."organizationId" = "pending"."organizationId"
          and "pending"."resourceType" = + 'project'
          and "variableRequests"."projectId" = "pending"."resourceId"
      )
      and not exists (
        select
          1
        from
          "pins"
        where
          "pins"."organizationId" = "pending"."organizationId"
          and "pins"."resourceType" = "pending"."resourceType"
          and "pins"."resourceId" = "pending"."resourceId"
      )
      and not exists (
        select
          1
        from
          "pins"
        where
          "pins"."organizationId" = "pending"."organizationId"
          and "pending"."resourceType" = + 'user'
          and "pins"."userId" = "pending"."resourceId"
      )
      and not exists (
        select
          1
        from
          (
            select
              1
          )
          cross join "deletions" as "earlier" indexed by "deletionsByParent" on "earlier"."organizationId" = "pending"."organizationId"
          and "earlier"."id" is not null
          and "pending"."resourceType" = + 'project'
          and "earlier"."projectId" = "pending"."resourceId"
      )
      and not exists (
        select
          1
        from
          (
            select
              1
          )
          cross join "deletions" as "earlier" indexed by "deletionsByParent" on "earlier"."organizationId" = "pending"."organizationId"
          and "earlier"."id" is not null
          and "pending"."resourceType" = + 'agent'
          and "earlier"."projectId" is null
          and "earlier"."agentId" = "pending"."resourceId"
      )
  );

-- purgePage.0
update "deletions"
set
  "finalAt" = + :now,
  "id" = + null,
  "row" = + null
where
  ("deletions"."organizationId", "deletions"."resourceType", "deletions"."resourceId") in (
    select
      "earlier"."organizationId",
      "earlier"."resourceType",
      "earlier"."resourceId"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "deletions" as "earlier" indexed by "deletionsByParent" on "earlier"."organizationId" = "pending"."organizationId"
      and "earlier"."id" is not null
      and "pending"."resourceType" = + 'project'
      and "earlier"."projectId" = "pending"."resourceId"
    limit
      1000
  );

-- purgePage.1
update "deletions"
set
  "finalAt" = + :now,
  "id" = + null,
  "row" = + null
where
  ("deletions"."organizationId", "deletions"."resourceType", "deletions"."resourceId") in (
    select
      "earlier"."organizationId",
      "earlier"."resourceType",
      "earlier"."resourceId"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "deletions" as "earlier" indexed by "deletionsByParent" on "earlier"."organizationId" = "pending"."organizationId"
      and "earlier"."id" is not null
      and "pending"."resourceType" = + 'agent'
      and "earlier"."projectId" is null
      and "earlier"."agentId" = "pending"."resourceId"
    limit
      1000
  );

-- purgePage.2
insert into
  "deletions" (
    "organizationId",
    "resourceType",
    "resourceId",
    "projectId",
    "agentId",
    "deletedAt",
    "finalAt",
    "purgedAt",
    "id",
    "row"
  )
select
  "sessions"."organizationId",
  'session',
  "sessions"."id",
  "sessions"."projectId",
  null,
  :now,
  :now,
  null,
  null,
  null
from
  (
    select
      "deletions".*
    from
      json_each(:organizations) as "organizations"
      cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
      and "deletions"."purgedAt" is null
      and "deletions"."row" is null
      and "deletions"."finalAt" <= :now
    where
      not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "deletions"."organizationId"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    limit
      500
  ) as "pending"
  cross join "sessions" on "sessions"."organizationId" = "pending"."organizationId"
  and "pending"."resourceType" = + 'project'
  and "sessions"."projectId" = "pending"."resourceId"
limit
  1000
on conflict do nothing;

-- purgePage.3
delete from "sessions"
where
  ("sessions"."organizationId", "sessions"."id") in (
    select
      "sessions"."organizationId",
      "sessions"."id"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "sessions" on "sessions"."organizationId" = "pending"."organizationId"
      and "pending"."resourceType" = + 'project'
      and "sessions"."projectId" = "pending"."resourceId"
      and exists (
        select
          1
        from
          "deletions"
        where
          "deletions"."organizationId" = "sessions"."organizationId"
          and "deletions"."resourceType" = + 'session'
          and "deletions"."resourceId" = "sessions"."id"
      )
    limit
      1000
  );

-- purgePage.4
insert into
  "deletions" (
    "organizationId",
    "resourceType",
    "resourceId",
    "projectId",
    "agentId",
    "deletedAt",
    "finalAt",
    "purgedAt",
    "id",
    "row"
  )
select
  "pullRequests"."organizationId",
  'pull_request',
  "pullRequests"."id",
  "pullRequests"."projectId",
  null,
  :now,
  :now,
  null,
  null,
  null
from
  (
    select
      "deletions".*
    from
      json_each(:organizations) as "organizations"
      cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
      and "deletions"."purgedAt" is null
      and "deletions"."row" is null
      and "deletions"."finalAt" <= :now
    where
      not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "deletions"."organizationId"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    limit
      500
  ) as "pending"
  cross join "pullRequests" on "pullRequests"."organizationId" = "pending"."organizationId"
  and "pending"."resourceType" = + 'project'
  and "pullRequests"."projectId" = "pending"."resourceId"
limit
  1000
on conflict do nothing;

-- purgePage.5
delete from "pullRequests"
where
  ("pullRequests"."organizationId", "pullRequests"."id") in (
    select
      "pullRequests"."organizationId",
      "pullRequests"."id"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "pullRequests" on "pullRequests"."organizationId" = "pending"."organizationId"
      and "pending"."resourceType" = + 'project'
      and "pullRequests"."projectId" = "pending"."resourceId"
      and exists (
        select
          1
        from
          "deletions"
        where
          "deletions"."organizationId" = "pullRequests"."organizationId"
          and "deletions"."resourceType" = + 'pull_request'
          and "deletions"."resourceId" = "pullRequests"."id"
      )
    limit
      1000
  );

-- purgePage.6
insert into
  "deletions" (
    "organizationId",
    "resourceType",
    "resourceId",
    "projectId",
    "agentId",
    "deletedAt",
    "finalAt",
    "purgedAt",
    "id",
    "row"
  )
select
  "schedules"."organizationId",
  'schedule',
  "schedules"."id",
  null,
  null,
  :now,
  :now,
  null,
  null,
  null
from
  (
    select
      "deletions".*
    from
      json_each(:organizations) as "organizations"
      cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
      and "deletions"."purgedAt" is null
      and "deletions"."row" is null
      and "deletions"."finalAt" <= :now
    where
      not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "deletions"."organizationId"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    limit
      500
  ) as "pending"
  cross join "schedules" on "schedules"."organizationId" = "pending"."organizationId"
  and "schedules"."parentType" = "pending"."resourceType"
  and "schedules"."parentId" = "pending"."resourceId"
limit
  1000
on conflict do nothing;

-- purgePage.7
delete from "schedules"
where
  ("schedules"."organizationId", "schedules"."id") in (
    select
      "schedules"."organizationId",
      "schedules"."id"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "schedules" on "schedules"."organizationId" = "pending"."organizationId"
      and "schedules"."parentType" = "pending"."resourceType"
      and "schedules"."parentId" = "pending"."resourceId"
      and exists (
        select
          1
        from
          "deletions"
        where
          "deletions"."organizationId" = "schedules"."organizationId"
          and "deletions"."resourceType" = + 'schedule'
          and "deletions"."resourceId" = "schedules"."id"
      )
    limit
      1000
  );

-- purgePage.8
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  "sessionFiles"."objectKey",
  :now
from
  (
    select
      "deletions".*
    from
      json_each(:organizations) as "organizations"
      cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
      and "deletions"."purgedAt" is null
      and "deletions"."row" is null
      and "deletions"."finalAt" <= :now
    where
      not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "deletions"."organizationId"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    limit
      500
  ) as "pending"
  cross join "sessionFiles" on "sessionFiles"."organizationId" = "pending"."organizationId"
  and "pending"."resourceType" = + 'session'
  and "sessionFiles"."sessionId" = "pending"."resourceId"
  and "sessionFiles"."objectKey" is not null
limit
  1000
on conflict do nothing;

-- purgePage.9
delete from "sessionFiles"
where
  ("sessionFiles"."organizationId", "sessionFiles"."sessionId", "sessionFiles"."id") in (
    select
      "sessionFiles"."organizationId",
      "sessionFiles"."sessionId",
      "sessionFiles"."id"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "sessionFiles" on "sessionFiles"."organizationId" = "pending"."organizationId"
      and "pending"."resourceType" = + 'session'
      and "sessionFiles"."sessionId" = "pending"."resourceId"
      and (
        "sessionFiles"."objectKey" is null
        or exists (
          select
            1
          from
            "orphanedObjects"
          where
            "orphanedObjects"."objectKey" = "sessionFiles"."objectKey"
        )
      )
    limit
      1000
  );

-- purgePage.10
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  "profilePictures"."objectKey",
  :now
from
  (
    select
      "deletions".*
    from
      json_each(:organizations) as "organizations"
      cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
      and "deletions"."purgedAt" is null
      and "deletions"."row" is null
      and "deletions"."finalAt" <= :now
    where
      not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "deletions"."organizationId"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    limit
      500
  ) as "pending"
  cross join "profilePictures" on "profilePictures"."organizationId" = "pending"."organizationId"
  and "pending"."resourceType" = + 'user'
  and "profilePictures"."userId" = "pending"."resourceId"
  and "profilePictures"."objectKey" is not null
limit
  1000
on conflict do nothing;

-- purgePage.11
delete from "profilePictures"
where
  ("profilePictures"."organizationId", "profilePictures"."userId") in (
    select
      "profilePictures"."organizationId",
      "profilePictures"."userId"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "profilePictures" on "profilePictures"."organizationId" = "pending"."organizationId"
      and "pending"."resourceType" = + 'user'
      and "profilePictures"."userId" = "pending"."resourceId"
      and (
        "profilePictures"."objectKey" is null
        or exists (
          select
            1
          from
            "orphanedObjects"
          where
            "orphanedObjects"."objectKey" = "profilePictures"."objectKey"
        )
      )
    limit
      1000
  );

-- purgePage.12
insert into
  "orphanedObjects" ("objectKey", "deleteAfter")
select
  "skillVersions"."objectKey",
  :now
from
  (
    select
      "deletions".*
    from
      json_each(:organizations) as "organizations"
      cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
      and "deletions"."purgedAt" is null
      and "deletions"."row" is null
      and "deletions"."finalAt" <= :now
    where
      not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "deletions"."organizationId"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    limit
      500
  ) as "pending"
  cross join "skillVersions" on "skillVersions"."organizationId" = "pending"."organizationId"
  and "pending"."resourceType" = + 'skill'
  and "skillVersions"."skillId" = "pending"."resourceId"
  and "skillVersions"."objectKey" is not null
limit
  1000
on conflict do nothing;

-- purgePage.13
delete from "skillVersions"
where
  ("skillVersions"."organizationId", "skillVersions"."skillId", "skillVersions"."version") in (
    select
      "skillVersions"."organizationId",
      "skillVersions"."skillId",
      "skillVersions"."version"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "skillVersions" on "skillVersions"."organizationId" = "pending"."organizationId"
      and "pending"."resourceType" = + 'skill'
      and "skillVersions"."skillId" = "pending"."resourceId"
      and (
        "skillVersions"."objectKey" is null
        or exists (
          select
            1
          from
            "orphanedObjects"
          where
            "orphanedObjects"."objectKey" = "skillVersions"."objectKey"
        )
      )
    limit
      1000
  );

-- purgePage.14
delete from "skillContents"
where
  ("skillContents"."organizationId", "skillContents"."skillId", "skillContents"."sha256") in (
    select
      "skillContents"."organizationId",
      "skillContents"."skillId",
      "skillContents"."sha256"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "skillContents" on "skillContents"."organizationId" = "pending"."organizationId"
      and "pending"."resourceType" = + 'skill'
      and "skillContents"."skillId" = "pending"."resourceId"
    limit
      1000
  );

-- purgePage.15
delete from "runs"
where
  ("runs"."organizationId", "runs"."id") in (
    select
      "runs"."organizationId",
      "runs"."id"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "runs" on "runs"."organizationId" = "pending"."organizationId"
      and "pending"."resourceType" = + 'schedule'
      and "runs"."scheduleId" = "pending"."resourceId"
    limit
      1000
  );

-- purgePage.16
delete from "missedSpans"
where
  ("missedSpans"."organizationId", "missedSpans"."scheduleId", "missedSpans"."missedUntil") in (
    select
      "missedSpans"."organizationId",
      "missedSpans"."scheduleId",
      "missedSpans"."missedUntil"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "missedSpans" on "missedSpans"."organizationId" = "pending"."organizationId"
      and "pending"."resourceType" = + 'schedule'
      and "missedSpans"."scheduleId" = "pending"."resourceId"
    limit
      1000
  );

-- purgePage.17
delete from "environmentVariables"
where
  (
    "environmentVariables"."organizationId",
    "environmentVariables"."projectId",
    "environmentVariables"."key"
  ) in (
    select
      "environmentVariables"."organizationId",
      "environmentVariables"."projectId",
      "environmentVariables"."key"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "environmentVariables" on "environmentVariables"."organizationId" = "pending"."organizationId"
      and "pending"."resourceType" = + 'project'
      and "environmentVariables"."projectId" = "pending"."resourceId"
    limit
      1000
  );

-- purgePage.18
delete from "variableRequests"
where
  (
    "variableRequests"."organizationId",
    "variableRequests"."projectId",
    "variableRequests"."idempotencyKey"
  ) in (
    select
      "variableRequests"."organizationId",
      "variableRequests"."projectId",
      "variableRequests"."idempotencyKey"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "variableRequests" on "variableRequests"."organizationId" = "pending"."organizationId"
      and "pending"."resourceType" = + 'project'
      and "variableRequests"."projectId" = "pending"."resourceId"
    limit
      1000
  );

-- purgePage.19
delete from "pins"
where
  ("pins"."organizationId", "pins"."userId", "pins"."resourceType", "pins"."resourceId") in (
    select
      "pins"."organizationId",
      "pins"."userId",
      "pins"."resourceType",
      "pins"."resourceId"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "pins" on "pins"."organizationId" = "pending"."organizationId"
      and "pins"."resourceType" = "pending"."resourceType"
      and "pins"."resourceId" = "pending"."resourceId"
    limit
      1000
  );

-- purgePage.20
delete from "pins"
where
  ("pins"."organizationId", "pins"."userId", "pins"."resourceType", "pins"."resourceId") in (
    select
      "pins"."organizationId",
      "pins"."userId",
      "pins"."resourceType",
      "pins"."resourceId"
    from
      (
        select
          "deletions".*
        from
          json_each(:organizations) as "organizations"
          cross join "deletions" indexed by "deletionsToPurge" on "deletions"."organizationId" = ("organizations".value ->> 'id')
          and "deletions"."purgedAt" is null
          and "deletions"."row" is null
          and "deletions"."finalAt" <= :now
        where
          not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = "deletions"."organizationId"
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
              and "halts"."kind" <> 'suspended'
          )
        limit
          500
      ) as "pending"
      cross join "pins" on "pins"."organizationId" = "pending"."organizationId"
      and "pending"."resourceType" = + 'user'
      and "pins"."userId" = "pending"."resourceId"
    limit
      1000
  );

-- selectOrganizations
select
  "id" as "id"
from
  (
    with recursive
      "organization" ("id") as (
        select
          ''
        union all
        select
          (
            select
              "deletions"."organizationId"
            from
              "deletions" indexed by "deletionsToPurge"
            where
              "deletions"."purgedAt" is null
              and "deletions"."row" is null
              and "deletions"."organizationId" > "organization"."id"
            order by
              "deletions"."organizationId"
            limit
              1
          )
        from
          "organization"
        where
          "id" is not null
      )
    select
      "id"
    from
      "organization"
    where
      "id" > ''
      and not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "id"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    limit
      500
  );

-- src/maintenance/reseal.ts

-- SEALED.0.select
select
  "environmentVariables".rowid as "rowid",
  "sealedValue" as "sealed",
  "organizationId" as "organizationId",
  "projectId" as "projectId",
  "key" as "key",
  null as "id"
from
  "environmentVariables"
where
  (
    substr(
      substr("environmentVariables"."sealedValue", 4),
      1,
      instr(substr("environmentVariables"."sealedValue", 4), '.') - 1
    ) = + :keyId
    and "environmentVariables".rowid > :after
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = "environmentVariables"."organizationId"
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
        and "halts"."kind" <> 'suspended'
    )
  )
order by
  "environmentVariables".rowid asc
limit
  + 20;

-- SEALED.0.update
update "environmentVariables"
set
  "sealedValue" = ("resealed".value ->> 'sealed')
from
  json_each(:resealed) as "resealed"
where
  (
    "environmentVariables".rowid = ("resealed".value ->> 'rowid')
    and substr("environmentVariables"."sealedValue", 1, length(("resealed".value ->> 'before'))) = ("resealed".value ->> 'before')
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = "environmentVariables"."organizationId"
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
        and "halts"."kind" <> 'suspended'
    )
  );

-- SEALED.1.select
select
  "runEndpoints".rowid as "rowid",
  "sealedSecret" as "sealed",
  "organizationId" as "organizationId",
  null as "projectId",
  null as "key",
  null as "id"
from
  "runEndpoints"
where
  (
    substr(
      substr("runEndpoints"."sealedSecret", 4),
      1,
      instr(substr("runEndpoints"."sealedSecret", 4), '.') - 1
    ) = + :keyId
    and "runEndpoints".rowid > :after
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = "runEndpoints"."organizationId"
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
        and "halts"."kind" <> 'suspended'
    )
  )
order by
  "runEndpoints".rowid asc
limit
  + 20;

-- SEALED.1.update
update "runEndpoints"
set
  "sealedSecret" = ("resealed".value ->> 'sealed')
from
  json_each(:resealed) as "resealed"
where
  (
    "runEndpoints".rowid = ("resealed".value ->> 'rowid')
    and substr("runEndpoints"."sealedSecret", 1, length(("resealed".value ->> 'before'))) = ("resealed".value ->> 'before')
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = "runEndpoints"."organizationId"
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
        and "halts"."kind" <> 'suspended'
    )
  );

-- SEALED.2.select
select
  "runEndpoints".rowid as "rowid",
  "previousSealedSecret" as "sealed",
  "organizationId" as "organizationId",
  null as "projectId",
  null as "key",
  null as "id"
from
  "runEndpoints"
where
  (
    substr(
      substr("runEndpoints"."previousSealedSecret", 4),
      1,
      instr(substr("runEndpoints"."previousSealedSecret", 4), '.') - 1
    ) = + :keyId
    and "runEndpoints".rowid > :after
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = "runEndpoints"."organizationId"
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
        and "halts"."kind" <> 'suspended'
    )
  )
order by
  "runEndpoints".rowid asc
limit
  + 20;

-- SEALED.2.update
update "runEndpoints"
set
  "previousSealedSecret" = ("resealed".value ->> 'sealed')
from
  json_each(:resealed) as "resealed"
where
  (
    "runEndpoints".rowid = ("resealed".value ->> 'rowid')
    and substr("runEndpoints"."previousSealedSecret", 1, length(("resealed".value ->> 'before'))) = ("resealed".value ->> 'before')
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = "runEndpoints"."organizationId"
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
        and "halts"."kind" <> 'suspended'
    )
  );

-- SEALED.3.select
select
  "eventEndpoints".rowid as "rowid",
  "sealedUrl" as "sealed",
  "organizationId" as "organizationId",
  "projectId" as "projectId",
  null as "key",
  "id" as "id"
from
  "eventEndpoints"
where
  (
    substr(substr("eventEndpoints"."sealedUrl", 4), 1, instr(substr("eventEndpoints"."sealedUrl", 4), '.') - 1) = + :keyId
    and "eventEndpoints".rowid > :after
    and not exists (
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
        and "halts"."kind" <> 'suspended'
    )
  )
order by
  "eventEndpoints".rowid asc
limit
  + 20;

-- SEALED.3.update
update "eventEndpoints"
set
  "sealedUrl" = ("resealed".value ->> 'sealed')
from
  json_each(:resealed) as "resealed"
where
  (
    "eventEndpoints".rowid = ("resealed".value ->> 'rowid')
    and substr("eventEndpoints"."sealedUrl", 1, length(("resealed".value ->> 'before'))) = ("resealed".value ->> 'before')
    and not exists (
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
        and "halts"."kind" <> 'suspended'
    )
  );

-- SEALED.4.select
select
  "eventEndpoints".rowid as "rowid",
  "sealedSecret" as "sealed",
  "organizationId" as "organizationId",
  "projectId" as "projectId",
  null as "key",
  "id" as "id"
from
  "eventEndpoints"
where
  (
    substr(
      substr("eventEndpoints"."sealedSecret", 4),
      1,
      instr(substr("eventEndpoints"."sealedSecret", 4), '.') - 1
    ) = + :keyId
    and "eventEndpoints".rowid > :after
    and not exists (
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
        and "halts"."kind" <> 'suspended'
    )
  )
order by
  "eventEndpoints".rowid asc
limit
  + 20;

-- SEALED.4.update
update "eventEndpoints"
set
  "sealedSecret" = ("resealed".value ->> 'sealed')
from
  json_each(:resealed) as "resealed"
where
  (
    "eventEndpoints".rowid = ("resealed".value ->> 'rowid')
    and substr("eventEndpoints"."sealedSecret", 1, length(("resealed".value ->> 'before'))) = ("resealed".value ->> 'before')
    and not exists (
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
        and "halts"."kind" <> 'suspended'
    )
  );

-- SEALED.5.select
select
  "eventEndpoints".rowid as "rowid",
  "previousSealedSecret" as "sealed",
  "organizationId" as "organizationId",
  "projectId" as "projectId",
  null as "key",
  "id" as "id"
from
  "eventEndpoints"
where
  (
    substr(
      substr("eventEndpoints"."previousSealedSecret", 4),
      1,
      instr(substr("eventEndpoints"."previousSealedSecret", 4), '.') - 1
    ) = + :keyId
    and "eventEndpoints".rowid > :after
    and not exists (
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
        and "halts"."kind" <> 'suspended'
    )
  )
order by
  "eventEndpoints".rowid asc
limit
  + 20;

-- SEALED.5.update
update "eventEndpoints"
set
  "previousSealedSecret" = ("resealed".value ->> 'sealed')
from
  json_each(:resealed) as "resealed"
where
  (
    "eventEndpoints".rowid = ("resealed".value ->> 'rowid')
    and substr("eventEndpoints"."previousSealedSecret", 1, length(("resealed".value ->> 'before'))) = ("resealed".value ->> 'before')
    and not exists (
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
        and "halts"."kind" <> 'suspended'
    )
  );

-- src/maintenance/retention.ts

-- oldAuditEvents.find
select
  1
from
  (
    select
      "auditEvents"."organizationId",
      "auditEvents"."sequence"
    from
      "organizations"
      cross join "auditEvents" on "auditEvents"."organizationId" = "organizations"."id"
      and "auditEvents"."sequence" < (
        select
          max("sequence")
        from
          "auditEvents" "later"
        where
          (
            "later"."organizationId" = "organizations"."id"
            and "later"."sequence" < :oldestEvent
          )
      )
    where
      "organizations"."id" > :after
      and "organizations"."id" <= :last
      and not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "organizations"."id"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    limit
      1
  );

-- oldAuditEvents.remove
delete from "auditEvents"
where
  ("auditEvents"."organizationId", "auditEvents"."sequence") in (
    select
      "auditEvents"."organizationId",
      "auditEvents"."sequence"
    from
      "organizations"
      cross join "auditEvents" on "auditEvents"."organizationId" = "organizations"."id"
      and "auditEvents"."sequence" < (
        select
          max("sequence")
        from
          "auditEvents" "later"
        where
          (
            "later"."organizationId" = "organizations"."id"
            and "later"."sequence" < :oldestEvent
          )
      )
    where
      "organizations"."id" > :after
      and "organizations"."id" <= :last
      and not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "organizations"."id"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    limit
      5000
  );

-- oldRuns.find
select
  1
from
  (
    select
      "runs"."organizationId",
      "runs"."id"
    from
      "organizations"
      cross join "runs" on "runs"."organizationId" = "organizations"."id"
      and (
        "runs"."id" < :oldestRunId
        and "runs"."createdAt" < :oldestRun
      )
    where
      "organizations"."id" > :after
      and "organizations"."id" <= :last
      and not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "organizations"."id"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    limit
      1
  );

-- oldRuns.remove
delete from "runs"
where
  ("runs"."organizationId", "runs"."id") in (
    select
      "runs"."organizationId",
      "runs"."id"
    from
      "organizations"
      cross join "runs" on "runs"."organizationId" = "organizations"."id"
      and (
        "runs"."id" < :oldestRunId
        and "runs"."createdAt" < :oldestRun
      )
    where
      "organizations"."id" > :after
      and "organizations"."id" <= :last
      and not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = "organizations"."id"
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
          and "halts"."kind" <> 'suspended'
      )
    limit
      5000
  );

-- selectOrganizations
select
  "id"
from
  "organizations"
where
  "organizations"."id" > :after
order by
  "organizations"."id" asc
limit
  + 500;
