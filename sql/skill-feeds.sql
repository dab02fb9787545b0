-- src/resources/skill-feeds/offered.ts

-- selectAllOffered
select
  "skills"."id",
  "skillVersions"."name",
  "skillVersions"."description",
  "skillVersions"."version",
  "skillVersions"."digest",
  "skillVersions"."objectKey"
from
  "skillFeeds"
  inner join "apiKeys" on (
    "apiKeys"."organizationId" = "skillFeeds"."organizationId"
    and "apiKeys"."id" = "skillFeeds"."apiKeyId"
  )
  inner join "skills" on (
    "skillFeeds"."skills" is null
    and "skills"."organizationId" = "skillFeeds"."organizationId"
  )
  inner join "skillVersions" on (
    "skillVersions"."organizationId" = "skills"."organizationId"
    and "skillVersions"."skillId" = "skills"."id"
    and "skillVersions"."version" = "skills"."version"
  )
where
  (
    "skillFeeds"."hash" = + :hash
    and "skillFeeds"."movedTo" is null
    and (
      "skillFeeds"."expiresAt" is null
      or "skillFeeds"."expiresAt" > :now
    )
    and "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
    and "apiKeys"."suspendedAt" is null
  )
order by
  "skills"."id" asc;

-- selectFeed
select
  "skillFeeds"."movedTo",
  not (
    not exists (
      select
        1
      from
        "brakes"
      where
        "brakes"."kind" = 'feeds'
    )
    and not exists (
      select
        1
      from
        "organizationBrakes"
      where
        "organizationBrakes"."organizationId" = "skillFeeds"."organizationId"
        and "organizationBrakes"."kind" = 'feeds'
    )
  ) as "isStopped"
from
  "skillFeeds"
  left join "apiKeys" on (
    "apiKeys"."organizationId" = "skillFeeds"."organizationId"
    and "apiKeys"."id" = "skillFeeds"."apiKeyId"
  )
where
  (
    "skillFeeds"."hash" = + :hash
    and (
      "skillFeeds"."movedTo" is not null
      or (
        "skillFeeds"."hash" = + :hash
        and "skillFeeds"."movedTo" is null
        and (
          "skillFeeds"."expiresAt" is null
          or "skillFeeds"."expiresAt" > :now
        )
        and "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
        and "apiKeys"."suspendedAt" is null
      )
    )
  );

-- selectNamedOffered
select
  "skills"."id",
  "skillVersions"."name",
  "skillVersions"."description",
  "skillVersions"."version",
  "skillVersions"."digest",
  "skillVersions"."objectKey"
from
  "skillFeeds"
  inner join "apiKeys" on (
    "apiKeys"."organizationId" = "skillFeeds"."organizationId"
    and "apiKeys"."id" = "skillFeeds"."apiKeyId"
  )
  inner join json_each("skillFeeds"."skills") as "named" on true
  cross join "skills"
  inner join "skillVersions" on (
    "skillVersions"."organizationId" = "skills"."organizationId"
    and "skillVersions"."skillId" = "skills"."id"
    and "skillVersions"."version" = coalesce("named".value ->> 'version', "skills"."version")
  )
where
  (
    (
      "skillFeeds"."hash" = + :hash
      and "skillFeeds"."movedTo" is null
      and (
        "skillFeeds"."expiresAt" is null
        or "skillFeeds"."expiresAt" > :now
      )
      and "apiKeys"."revokedAt" is null
      and (
        "apiKeys"."expiresAt" is null
        or "apiKeys"."expiresAt" > :now
      )
      and "apiKeys"."suspendedAt" is null
    )
    and "skills"."organizationId" = "skillFeeds"."organizationId"
    and "skills"."id" = "named".value ->> 'skillId'
  )
order by
  "named".key asc;

-- selectOneOfAll
select
  "skills"."id",
  "skillVersions"."name",
  "skillVersions"."description",
  "skillVersions"."version",
  "skillVersions"."digest",
  "skillVersions"."objectKey"
from
  "skillFeeds"
  inner join "apiKeys" on (
    "apiKeys"."organizationId" = "skillFeeds"."organizationId"
    and "apiKeys"."id" = "skillFeeds"."apiKeyId"
  )
  inner join "skills" on (
    "skillFeeds"."skills" is null
    and "skills"."organizationId" = "skillFeeds"."organizationId"
  )
  inner join "skillVersions" on (
    "skillVersions"."organizationId" = "skills"."organizationId"
    and "skillVersions"."skillId" = "skills"."id"
    and "skillVersions"."version" = "skills"."version"
  )
where
  (
    (
      "skillFeeds"."hash" = + :hash
      and "skillFeeds"."movedTo" is null
      and (
        "skillFeeds"."expiresAt" is null
        or "skillFeeds"."expiresAt" > :now
      )
      and "apiKeys"."revokedAt" is null
      and (
        "apiKeys"."expiresAt" is null
        or "apiKeys"."expiresAt" > :now
      )
      and "apiKeys"."suspendedAt" is null
    )
    and (
      "skills"."id" = + :skillId
      and "skillVersions"."version" = cast(:version as integer)
    )
  );

-- selectOneOfNamed
select
  "skills"."id",
  "skillVersions"."name",
  "skillVersions"."description",
  "skillVersions"."version",
  "skillVersions"."digest",
  "skillVersions"."objectKey"
from
  "skillFeeds"
  inner join "apiKeys" on (
    "apiKeys"."organizationId" = "skillFeeds"."organizationId"
    and "apiKeys"."id" = "skillFeeds"."apiKeyId"
  )
  inner join json_each("skillFeeds"."skills") as "named" on true
  cross join "skills"
  inner join "skillVersions" on (
    "skillVersions"."organizationId" = "skills"."organizationId"
    and "skillVersions"."skillId" = "skills"."id"
    and "skillVersions"."version" = coalesce("named".value ->> 'version', "skills"."version")
  )
where
  (
    (
      "skillFeeds"."hash" = + :hash
      and "skillFeeds"."movedTo" is null
      and (
        "skillFeeds"."expiresAt" is null
        or "skillFeeds"."expiresAt" > :now
      )
      and "apiKeys"."revokedAt" is null
      and (
        "apiKeys"."expiresAt" is null
        or "apiKeys"."expiresAt" > :now
      )
      and "apiKeys"."suspendedAt" is null
    )
    and "skills"."organizationId" = "skillFeeds"."organizationId"
    and "skills"."id" = "named".value ->> 'skillId'
    and (
      "skills"."id" = + :skillId
      and "skillVersions"."version" = cast(:version as integer)
    )
  );

-- src/resources/skill-feeds/statements.ts

-- creatable.check
select
  case
    when "apiKeys"."movedTo" is not null then 'moved'
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
    when "apiKeys"."suspendedAt" is not null then 'suspended'
  end as "keyEnd",
  "movedTo" as "movedTo",
  (
    :caller.scope is null
    or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
  ) as "isInScope",
  "organizationId" as "callerOrganizationId",
  "userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :caller.hourAgo
  ) as "isLastUsedStale",
  case
    when :expiresAt <= :now then :expiresAt
  end as "pastExpiresAt",
  (
    select
      "named".key
    from
      json_each(:skills) as "named"
    where
      not exists (
        select
          1
        from
          "skills"
        where
          "skills"."organizationId" = "apiKeys"."organizationId"
          and "skills"."id" = "named".value ->> 'skillId'
      )
    limit
      1
  ) as "missingSkill",
  (
    select
      "named".key
    from
      json_each(:skills) as "named"
    where
      "named".value ->> 'version' is not null
      and not exists (
        select
          1
        from
          "skillVersions"
        where
          "skillVersions"."organizationId" = "apiKeys"."organizationId"
          and "skillVersions"."skillId" = "named".value ->> 'skillId'
          and "skillVersions"."version" = "named".value ->> 'version'
      )
    limit
      1
  ) as "missingVersion",
  (
    select
      count(*)
    from
      "skillFeeds"
    where
      "skillFeeds"."organizationId" = "apiKeys"."organizationId"
  ) < 100 as "isWithinLimit"
from
  "apiKeys"
where
  "apiKeys"."hash" = + :caller.keyHash;

-- deletable.check
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
  "skillFeeds"."id" is not null as "feedExists"
from
  "apiKeys"
  left join "skillFeeds" on (
    "skillFeeds"."organizationId" = "apiKeys"."organizationId"
    and "skillFeeds"."id" = + :feedId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- deleteFeed
delete from "skillFeeds"
where
  (
    "skillFeeds"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "skillFeeds" on (
          "skillFeeds"."organizationId" = "apiKeys"."organizationId"
          and "skillFeeds"."id" = + :feedId
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
          and ("skillFeeds"."id" is not null)
        )
    )
    and "skillFeeds"."id" = + :feedId
  )
returning
  "id";

-- deleteFeed.recording
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
  'skill-feed.deleted' as "type",
  "skillFeeds"."id" as "resourceId",
  null as "parentId",
  "skillFeeds"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "skillFeeds" on (
    "skillFeeds"."organizationId" = "apiKeys"."organizationId"
    and "skillFeeds"."id" = + :feedId
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
      and ("skillFeeds"."id" is not null)
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

-- insertFeed
insert into
  "skillFeeds" ("organizationId", "id", "hash", "name", "skills", "expiresAt", "apiKeyId", "createdAt", "movedTo")
select
  "organizationId" as "organizationId",
  :id as "id",
  :hash as "hash",
  :name as "name",
  :skills as "skills",
  :expiresAt as "expiresAt",
  "id" as "apiKeyId",
  :now as "createdAt",
  null as "movedTo"
from
  "apiKeys"
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
    and case
      when :expiresAt <= :now then :expiresAt
    end is null
    and (
      select
        "named".key
      from
        json_each(:skills) as "named"
      where
        not exists (
          select
            1
          from
            "skills"
          where
            "skills"."organizationId" = "apiKeys"."organizationId"
            and "skills"."id" = "named".value ->> 'skillId'
        )
      limit
        1
    ) is null
    and (
      select
        "named".key
      from
        json_each(:skills) as "named"
      where
        "named".value ->> 'version' is not null
        and not exists (
          select
            1
          from
            "skillVersions"
          where
            "skillVersions"."organizationId" = "apiKeys"."organizationId"
            and "skillVersions"."skillId" = "named".value ->> 'skillId'
            and "skillVersions"."version" = "named".value ->> 'version'
        )
      limit
        1
    ) is null
    and (
      (
        select
          count(*)
        from
          "skillFeeds"
        where
          "skillFeeds"."organizationId" = "apiKeys"."organizationId"
      ) < 100
    )
  )
returning
  "id",
  "name",
  "skills",
  "expiresAt",
  "apiKeyId",
  "createdAt";

-- insertFeed.recording
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
          "last"."organizationId" = "apiKeys"."organizationId"
      ),
      0
    ) + 1
  ) + 0 as "sequence",
  substr(:event.id, 1, 32) || printf('%04x', 0 + 0) as "id",
  'skill-feed.created' as "type",
  :id as "resourceId",
  null as "parentId",
  :name as "resourceName",
  null as "projectId",
  "id" as "apiKeyId",
  "name" as "apiKeyName",
  "userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
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

-- selectFeeds
select
  "skillFeeds"."id",
  "skillFeeds"."name",
  "skillFeeds"."skills",
  "skillFeeds"."expiresAt",
  "skillFeeds"."apiKeyId",
  "skillFeeds"."createdAt"
from
  "apiKeys"
  inner join "skillFeeds" on (
    "skillFeeds"."organizationId" = "apiKeys"."organizationId"
    and "skillFeeds"."id" > :cursor
  )
where
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
order by
  "skillFeeds"."id" asc
limit
  + :rowLimit;
