-- src/resources/events/statements.ts

-- auditable.check
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
  "apiKeys"."projectIds" is null as "isUnrestricted"
from
  "apiKeys"
where
  "apiKeys"."hash" = + :caller.keyHash;

-- feed.select
select
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
from
  (
    select
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
    from
      "auditEvents"
    where
      (
        "auditEvents"."organizationId" = (
          select
            "organizationId"
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
              and (
                (
                  not exists (
                    select
                      1
                    from
                      "auditEvents"
                    where
                      (
                        "auditEvents"."organizationId" = "apiKeys"."organizationId"
                        and "auditEvents"."sequence" > :after
                        and "auditEvents"."sequence" < :oldestKept
                      )
                  )
                  and not exists (
                    select
                      1
                    from
                      "eventUsage"
                    where
                      (
                        "eventUsage"."organizationId" = "apiKeys"."organizationId"
                        and "eventUsage"."removedTo" > :after
                        and :after <> :oldestKept - 1
                      )
                  )
                )
              )
            )
        )
        and "auditEvents"."sequence" > :after
      )
    order by
      "auditEvents"."sequence" asc
    limit
      + 2500
  ) "examined"
where
  (
    (
      (
        :types is null
        or (
          instr(:types, '"' || "examined"."type" || '"') > 0
          or instr(:types, '"' || substr("examined"."type", 1, instr("examined"."type", '.')) || '*' || '"') > 0
        )
      )
      and (
        :resourceId is null
        or (
          "examined"."resourceId" = + :resourceId
          and "examined"."type" glob :resourceTypes
        )
      )
      and (
        :projectId is null
        or "examined"."projectId" = + :projectId
      )
      and (
        :apiKeyId is null
        or "examined"."apiKeyId" = + :apiKeyId
      )
      and (
        :userId is null
        or "examined"."userId" = + :userId
      )
    )
    and (
      (
        select
          "apiKeys"."projectIds"
        from
          "apiKeys"
        where
          "apiKeys"."hash" = + :caller.keyHash
      ) is null
      or case
        when "examined"."projectId" is null then (
          "examined"."type" glob 'skill.*'
          or "examined"."type" glob 'skill-feed.*'
          or "examined"."type" glob 'schedule.*'
          or "examined"."type" glob 'run.*'
        )
        else "examined"."projectId" in (
          select
            value
          from
            json_each(
              (
                select
                  "apiKeys"."projectIds"
                from
                  "apiKeys"
                where
                  "apiKeys"."hash" = + :caller.keyHash
              )
            )
        )
      end
    )
  )
limit
  + :rowLimit;

-- feed.selectLastExamined
select
  "auditEvents"."sequence"
from
  "apiKeys"
  inner join "auditEvents" on (
    "auditEvents"."organizationId" = "apiKeys"."organizationId"
    and "auditEvents"."sequence" > :after
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
          not exists (
            select
              1
            from
              "auditEvents"
            where
              (
                "auditEvents"."organizationId" = "apiKeys"."organizationId"
                and "auditEvents"."sequence" > :after
                and "auditEvents"."sequence" < :oldestKept
              )
          )
          and not exists (
            select
              1
            from
              "eventUsage"
            where
              (
                "eventUsage"."organizationId" = "apiKeys"."organizationId"
                and "eventUsage"."removedTo" > :after
                and :after <> :oldestKept - 1
              )
          )
        )
      )
    )
    and (
      :isFiltered
      or "apiKeys"."projectIds" is not null
    )
  )
order by
  "auditEvents"."sequence" asc
limit
  + 1
offset
  2499;

-- readable.check
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
  (
    not exists (
      select
        1
      from
        "auditEvents"
      where
        (
          "auditEvents"."organizationId" = "apiKeys"."organizationId"
          and "auditEvents"."sequence" > :after
          and "auditEvents"."sequence" < :oldestKept
        )
    )
    and not exists (
      select
        1
      from
        "eventUsage"
      where
        (
          "eventUsage"."organizationId" = "apiKeys"."organizationId"
          and "eventUsage"."removedTo" > :after
          and :after <> :oldestKept - 1
        )
    )
  ) as "isKept"
from
  "apiKeys"
where
  "apiKeys"."hash" = + :caller.keyHash;

-- selectEnd
select
  (
    select
      max("sequence")
    from
      "auditEvents"
    where
      "auditEvents"."organizationId" = "apiKeys"."organizationId"
  ) as "sequence"
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
    and (
      (
        not exists (
          select
            1
          from
            "auditEvents"
          where
            (
              "auditEvents"."organizationId" = "apiKeys"."organizationId"
              and "auditEvents"."sequence" > :after
              and "auditEvents"."sequence" < :oldestKept
            )
        )
        and not exists (
          select
            1
          from
            "eventUsage"
          where
            (
              "eventUsage"."organizationId" = "apiKeys"."organizationId"
              and "eventUsage"."removedTo" > :after
              and :after <> :oldestKept - 1
            )
        )
      )
    )
  );

-- trail.select
select
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
from
  (
    select
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
    from
      "auditEvents"
    where
      (
        "auditEvents"."organizationId" = (
          select
            "organizationId"
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
              and ("apiKeys"."projectIds" is null)
            )
        )
        and (
          "auditEvents"."sequence" >= :first
          and "auditEvents"."sequence" < :before
        )
      )
    order by
      "auditEvents"."sequence" desc
    limit
      + 2500
  ) "examined"
where
  (
    (
      (
        :types is null
        or (
          instr(:types, '"' || "examined"."type" || '"') > 0
          or instr(:types, '"' || substr("examined"."type", 1, instr("examined"."type", '.')) || '*' || '"') > 0
        )
      )
      and (
        :resourceId is null
        or (
          "examined"."resourceId" = + :resourceId
          and "examined"."type" glob :resourceTypes
        )
      )
      and (
        :projectId is null
        or "examined"."projectId" = + :projectId
      )
      and (
        :apiKeyId is null
        or "examined"."apiKeyId" = + :apiKeyId
      )
      and (
        :userId is null
        or "examined"."userId" = + :userId
      )
    )
    and (
      (
        select
          "apiKeys"."projectIds"
        from
          "apiKeys"
        where
          "apiKeys"."hash" = + :caller.keyHash
      ) is null
      or case
        when "examined"."projectId" is null then (
          "examined"."type" glob 'skill.*'
          or "examined"."type" glob 'skill-feed.*'
          or "examined"."type" glob 'schedule.*'
          or "examined"."type" glob 'run.*'
        )
        else "examined"."projectId" in (
          select
            value
          from
            json_each(
              (
                select
                  "apiKeys"."projectIds"
                from
                  "apiKeys"
                where
                  "apiKeys"."hash" = + :caller.keyHash
              )
            )
        )
      end
    )
  )
limit
  + :rowLimit;

-- trail.selectLastExamined
select
  "auditEvents"."sequence"
from
  "apiKeys"
  inner join "auditEvents" on (
    "auditEvents"."organizationId" = "apiKeys"."organizationId"
    and (
      "auditEvents"."sequence" >= :first
      and "auditEvents"."sequence" < :before
    )
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
      and ("apiKeys"."projectIds" is null)
    )
    and (
      :isFiltered
      or "apiKeys"."projectIds" is not null
    )
  )
order by
  "auditEvents"."sequence" desc
limit
  + 1
offset
  2499;
