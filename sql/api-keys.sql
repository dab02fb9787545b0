-- src/resources/api-keys/statements.ts

-- explainCreation
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
  ) as "isLastUsedStale",
  "earlier"."id" as "earlierId",
  (
    case
      when :userIdIsGiven then :userId
      else "apiKeys"."userId"
    end is null
    or exists (
      select
        1
      from
        "users"
      where
        (
          "users"."organizationId" = "apiKeys"."organizationId"
          and "users"."id" = case
            when :userIdIsGiven then :userId
            else "apiKeys"."userId"
          end
        )
    )
  ) as "hasUser",
  (
    select
      value
    from
      json_each(:projectIds)
    where
      not exists (
        select
          1
        from
          "projects"
        where
          (
            "projects"."organizationId" = "apiKeys"."organizationId"
            and "projects"."id" = value
          )
      )
  ) as "missingProject",
  not exists (
    select
      1
    from
      json_each(:scopes)
    where
      value not in (
        select
          value
        from
          json_each("apiKeys"."scopes")
      )
  ) as "hasScopes",
  (
    "apiKeys"."userId" is null
    or "apiKeys"."userId" is case
      when :userIdIsGiven then :userId
      else "apiKeys"."userId"
    end
  ) as "actsForUser",
  (
    "apiKeys"."projectIds" is null
    or (
      case
        when :projectIdsIsGiven then :projectIds
        else "apiKeys"."projectIds"
      end is not null
      and not exists (
        select
          1
        from
          json_each(
            case
              when :projectIdsIsGiven then :projectIds
              else "apiKeys"."projectIds"
            end
          )
        where
          value not in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
      )
    )
  ) as "reachesProjects",
  (
    "apiKeys"."expiresAt" is null
    or coalesce(
      case
        when :expiresAtIsGiven then :expiresAt
        else "apiKeys"."expiresAt"
      end <= "apiKeys"."expiresAt",
      false
    )
  ) as "livesAsLong",
  coalesce(
    case
      when :expiresAtIsGiven then :expiresAt
      else "apiKeys"."expiresAt"
    end > :now,
    true
  ) as "endsLater",
  not "apiKeys"."rotatedAt" is null as "hasSuccessor",
  (
    select
      case
        when "organizationUsage"."apiKeys" + (1) > max("organizationUsage"."apiKeys", :apiKeysQuota) then 'apiKeys'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota"
from
  "apiKeys"
  left join "apiKeys" "earlier" on (
    "earlier"."organizationId" = "apiKeys"."organizationId"
    and "earlier"."idempotencyKey" = :idempotencyKey
  )
where
  "apiKeys"."hash" = :keyHash;

-- explainDeletion
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
  ) as "isLastUsedStale",
  "it"."id" is not null as "exists",
  (
    (
      (
        "apiKeys"."userId" is null
        or "apiKeys"."userId" is "it"."userId"
      )
      and (
        "apiKeys"."projectIds" is null
        or (
          "it"."projectIds" is not null
          and not exists (
            select
              1
            from
              json_each("it"."projectIds")
            where
              value not in (
                select
                  value
                from
                  json_each("apiKeys"."projectIds")
              )
          )
        )
      )
      and (
        "apiKeys"."rotatedAt" is null
        or "it"."id" = "apiKeys"."id"
      )
    )
    and (
      "apiKeys"."rotatedAt" is null
      or not :descendants
    )
  ) as "isDeletable",
  not "apiKeys"."rotatedAt" is null as "hasSuccessor"
from
  "apiKeys"
  left join "apiKeys" "it" on (
    (
      "it"."organizationId" = "apiKeys"."organizationId"
      and "it"."id" = :apiKeyId
    )
    and (
      "it"."revokedAt" is null
      or :descendants
    )
  )
where
  "apiKeys"."hash" = :keyHash;

-- explainRotation
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
  ) as "isLastUsedStale",
  "it"."id" is not null as "exists",
  (
    (
      "apiKeys"."userId" is null
      or "apiKeys"."userId" is "it"."userId"
    )
    and (
      "apiKeys"."projectIds" is null
      or (
        "it"."projectIds" is not null
        and not exists (
          select
            1
          from
            json_each("it"."projectIds")
          where
            value not in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
        )
      )
    )
    and (
      "apiKeys"."rotatedAt" is null
      or "it"."id" = "apiKeys"."id"
    )
  ) as "isManageable",
  not "apiKeys"."rotatedAt" is null as "hasSuccessor",
  not exists (
    select
      1
    from
      json_each("it"."scopes")
    where
      value not in (
        select
          value
        from
          json_each("apiKeys"."scopes")
      )
  ) as "hasScopes",
  (
    "apiKeys"."expiresAt" is null
    or coalesce("it"."expiresAt" <= "apiKeys"."expiresAt", false)
  ) as "livesAsLong",
  "it"."rotatedAt" is not null as "isRotated",
  "earlier"."id" as "earlierId"
from
  "apiKeys"
  left join "apiKeys" "it" on (
    (
      "it"."organizationId" = "apiKeys"."organizationId"
      and "it"."id" = :apiKeyId
    )
    and "it"."revokedAt" is null
  )
  left join "apiKeys" "earlier" on (
    "earlier"."organizationId" = "apiKeys"."organizationId"
    and "earlier"."idempotencyKey" = :idempotencyKey
  )
where
  "apiKeys"."hash" = :keyHash;

-- insertKey
insert into
  "apiKeys" (
    "organizationId",
    "id",
    "name",
    "hash",
    "scopes",
    "userId",
    "projectIds",
    "expiresAt",
    "revokedAt",
    "rotatedAt",
    "lastUsedAt",
    "createdAt",
    "idempotencyKey",
    "createdByKeyId"
  )
select
  "organizationId" as "organizationId",
  :id as "id",
  :name as "name",
  :hash as "hash",
  :scopes as "scopes",
  case
    when :userIdIsGiven then :userId
    else "apiKeys"."userId"
  end as "userId",
  case
    when :projectIdsIsGiven then :projectIds
    else "apiKeys"."projectIds"
  end as "projectIds",
  case
    when :expiresAtIsGiven then :expiresAt
    else "apiKeys"."expiresAt"
  end as "expiresAt",
  null as "revokedAt",
  null as "rotatedAt",
  null as "lastUsedAt",
  :now as "createdAt",
  :idempotencyKey as "idempotencyKey",
  "id" as "createdByKeyId"
from
  "apiKeys"
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and "apiKeys"."rotatedAt" is null
    and (
      case
        when :userIdIsGiven then :userId
        else "apiKeys"."userId"
      end is null
      or exists (
        select
          1
        from
          "users"
        where
          (
            "users"."organizationId" = "apiKeys"."organizationId"
            and "users"."id" = case
              when :userIdIsGiven then :userId
              else "apiKeys"."userId"
            end
          )
      )
    )
    and (
      select
        value
      from
        json_each(:projectIds)
      where
        not exists (
          select
            1
          from
            "projects"
          where
            (
              "projects"."organizationId" = "apiKeys"."organizationId"
              and "projects"."id" = value
            )
        )
    ) is null
    and not exists (
      select
        1
      from
        json_each(:scopes)
      where
        value not in (
          select
            value
          from
            json_each("apiKeys"."scopes")
        )
    )
    and (
      "apiKeys"."userId" is null
      or "apiKeys"."userId" is case
        when :userIdIsGiven then :userId
        else "apiKeys"."userId"
      end
    )
    and (
      "apiKeys"."projectIds" is null
      or (
        case
          when :projectIdsIsGiven then :projectIds
          else "apiKeys"."projectIds"
        end is not null
        and not exists (
          select
            1
          from
            json_each(
              case
                when :projectIdsIsGiven then :projectIds
                else "apiKeys"."projectIds"
              end
            )
          where
            value not in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
        )
      )
    )
    and (
      "apiKeys"."expiresAt" is null
      or coalesce(
        case
          when :expiresAtIsGiven then :expiresAt
          else "apiKeys"."expiresAt"
        end <= "apiKeys"."expiresAt",
        false
      )
    )
    and coalesce(
      case
        when :expiresAtIsGiven then :expiresAt
        else "apiKeys"."expiresAt"
      end > :now,
      true
    )
    and (
      select
        case
          when "organizationUsage"."apiKeys" + (1) > max("organizationUsage"."apiKeys", :apiKeysQuota) then 'apiKeys'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
  )
on conflict do nothing
returning
  "id",
  "name",
  "scopes",
  "userId",
  "projectIds",
  "expiresAt",
  "rotatedAt",
  "lastUsedAt",
  "createdAt";

-- insertSuccessor
insert into
  "apiKeys" (
    "organizationId",
    "id",
    "name",
    "hash",
    "scopes",
    "userId",
    "projectIds",
    "expiresAt",
    "revokedAt",
    "rotatedAt",
    "lastUsedAt",
    "createdAt",
    "idempotencyKey",
    "createdByKeyId"
  )
select
  "it"."organizationId" as "organizationId",
  :id as "id",
  "it"."name" as "name",
  :hash as "hash",
  "it"."scopes" as "scopes",
  "it"."userId" as "userId",
  "it"."projectIds" as "projectIds",
  "it"."expiresAt" as "expiresAt",
  null as "revokedAt",
  null as "rotatedAt",
  null as "lastUsedAt",
  :now as "createdAt",
  :idempotencyKey as "idempotencyKey",
  "apiKeys"."id" as "createdByKeyId"
from
  "apiKeys"
  inner join "apiKeys" "it" on (
    (
      "it"."organizationId" = "apiKeys"."organizationId"
      and "it"."id" = :apiKeyId
    )
    and "it"."revokedAt" is null
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and (
      (
        "apiKeys"."userId" is null
        or "apiKeys"."userId" is "it"."userId"
      )
      and (
        "apiKeys"."projectIds" is null
        or (
          "it"."projectIds" is not null
          and not exists (
            select
              1
            from
              json_each("it"."projectIds")
            where
              value not in (
                select
                  value
                from
                  json_each("apiKeys"."projectIds")
              )
          )
        )
      )
      and (
        "apiKeys"."rotatedAt" is null
        or "it"."id" = "apiKeys"."id"
      )
    )
    and not exists (
      select
        1
      from
        json_each("it"."scopes")
      where
        value not in (
          select
            value
          from
            json_each("apiKeys"."scopes")
        )
    )
    and (
      "apiKeys"."expiresAt" is null
      or coalesce("it"."expiresAt" <= "apiKeys"."expiresAt", false)
    )
    and "it"."rotatedAt" is null
    and (
      "it"."expiresAt" is null
      or "it"."expiresAt" > :now
    )
  )
on conflict do nothing
returning
  "id",
  "name",
  "scopes",
  "userId",
  "projectIds",
  "expiresAt",
  "rotatedAt",
  "lastUsedAt",
  "createdAt";

-- listKeys
select
  "it"."id",
  "it"."name",
  "it"."scopes",
  "it"."userId",
  "it"."projectIds",
  "it"."expiresAt",
  "it"."rotatedAt",
  "it"."lastUsedAt",
  "it"."createdAt"
from
  "apiKeys"
  inner join "apiKeys" "it" on (
    "it"."organizationId" = "apiKeys"."organizationId"
    and "it"."id" > :cursor
    and "it"."revokedAt" is null
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and "apiKeys"."userId" is null
    and (
      "apiKeys"."projectIds" is null
      or (
        "it"."projectIds" is not null
        and not exists (
          select
            1
          from
            json_each("it"."projectIds")
          where
            value not in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
        )
      )
    )
  )
order by
  "it"."id" asc
limit
  :rowLimit;

-- listOwnKeys
select
  "it"."id",
  "it"."name",
  "it"."scopes",
  "it"."userId",
  "it"."projectIds",
  "it"."expiresAt",
  "it"."rotatedAt",
  "it"."lastUsedAt",
  "it"."createdAt"
from
  "apiKeys"
  inner join "apiKeys" "it" on (
    "it"."organizationId" = "apiKeys"."organizationId"
    and "it"."id" > :cursor
    and "it"."revokedAt" is null
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and "it"."userId" = "apiKeys"."userId"
    and (
      "apiKeys"."projectIds" is null
      or (
        "it"."projectIds" is not null
        and not exists (
          select
            1
          from
            json_each("it"."projectIds")
          where
            value not in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
        )
      )
    )
  )
order by
  "it"."id" asc
limit
  :rowLimit;

-- recordDescendants
insert into
  "auditEvents" ("organizationId", "id", "operation", "target", "apiKeyId", "userId", "requestId", "createdAt")
select
  "apiKeys"."organizationId" as "organizationId",
  substr(:auditEventId, 1, 24) || lower(hex(randomblob(6))) as "id",
  :operation as "operation",
  '/v1/api-keys/' || "descendant"."id" as "target",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."userId" as "userId",
  :requestId as "requestId",
  :now as "createdAt"
from
  "apiKeys"
  inner join "apiKeys" "descendant" on (
    (
      ("descendant"."organizationId", "descendant"."id") in (
        with recursive
          "lineage" ("organizationId", "id") as (
            select
              "it"."organizationId",
              "it"."id"
            from
              "apiKeys"
              inner join "apiKeys" "it" on (
                (
                  "it"."organizationId" = "apiKeys"."organizationId"
                  and "it"."id" = :apiKeyId
                )
                and (
                  "it"."revokedAt" is null
                  or :descendants
                )
              )
            where
              (
                (
                  "apiKeys"."hash" = :keyHash
                  and (
                    "apiKeys"."revokedAt" is null
                    and (
                      "apiKeys"."expiresAt" is null
                      or "apiKeys"."expiresAt" > :now
                    )
                  )
                  and (
                    :scope is null
                    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
                  )
                )
                and (
                  (
                    (
                      "apiKeys"."userId" is null
                      or "apiKeys"."userId" is "it"."userId"
                    )
                    and (
                      "apiKeys"."projectIds" is null
                      or (
                        "it"."projectIds" is not null
                        and not exists (
                          select
                            1
                          from
                            json_each("it"."projectIds")
                          where
                            value not in (
                              select
                                value
                              from
                                json_each("apiKeys"."projectIds")
                            )
                        )
                      )
                    )
                    and (
                      "apiKeys"."rotatedAt" is null
                      or "it"."id" = "apiKeys"."id"
                    )
                  )
                  and (
                    "apiKeys"."rotatedAt" is null
                    or not :descendants
                  )
                )
              )
            union
            select
              "child"."organizationId",
              "child"."id"
            from
              "apiKeys" "child"
              inner join "lineage" on (
                "child"."organizationId" = "lineage"."organizationId"
                and "child"."createdByKeyId" = "lineage"."id"
              )
            where
              :descendants
          )
        select
          *
        from
          "lineage"
      )
      and "descendant"."revokedAt" is null
    )
    and "descendant"."id" <> :apiKeyId
  )
where
  (
    "apiKeys"."hash" = :keyHash
    and (
      "apiKeys"."revokedAt" is null
      and (
        "apiKeys"."expiresAt" is null
        or "apiKeys"."expiresAt" > :now
      )
    )
    and (
      :scope is null
      or instr("apiKeys"."scopes", json_quote(:scope)) > 0
    )
  );

-- retireKey
update "apiKeys"
set
  "expiresAt" = min(coalesce("apiKeys"."expiresAt", :overlapEndsAt), :overlapEndsAt),
  "rotatedAt" = :now
where
  (
    "apiKeys"."organizationId" = (
      select
        "it"."organizationId"
      from
        "apiKeys"
        inner join "apiKeys" "it" on (
          (
            "it"."organizationId" = "apiKeys"."organizationId"
            and "it"."id" = :apiKeyId
          )
          and "it"."revokedAt" is null
        )
        inner join "apiKeys" "successor" on (
          "successor"."organizationId" = "apiKeys"."organizationId"
          and "successor"."id" = :id
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and (
              "apiKeys"."revokedAt" is null
              and (
                "apiKeys"."expiresAt" is null
                or "apiKeys"."expiresAt" > :now
              )
            )
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and (
            (
              "apiKeys"."userId" is null
              or "apiKeys"."userId" is "it"."userId"
            )
            and (
              "apiKeys"."projectIds" is null
              or (
                "it"."projectIds" is not null
                and not exists (
                  select
                    1
                  from
                    json_each("it"."projectIds")
                  where
                    value not in (
                      select
                        value
                      from
                        json_each("apiKeys"."projectIds")
                    )
                )
              )
            )
            and (
              "apiKeys"."rotatedAt" is null
              or "it"."id" = "apiKeys"."id"
            )
          )
          and not exists (
            select
              1
            from
              json_each("it"."scopes")
            where
              value not in (
                select
                  value
                from
                  json_each("apiKeys"."scopes")
              )
          )
          and (
            "apiKeys"."expiresAt" is null
            or coalesce("it"."expiresAt" <= "apiKeys"."expiresAt", false)
          )
          and "it"."rotatedAt" is null
          and (
            "it"."expiresAt" is null
            or "it"."expiresAt" > :now
          )
        )
    )
    and "apiKeys"."id" = :apiKeyId
  );

-- revokeKeys
update "apiKeys"
set
  "revokedAt" = :now
where
  (
    ("apiKeys"."organizationId", "apiKeys"."id") in (
      with recursive
        "lineage" ("organizationId", "id") as (
          select
            "it"."organizationId",
            "it"."id"
          from
            "apiKeys"
            inner join "apiKeys" "it" on (
              (
                "it"."organizationId" = "apiKeys"."organizationId"
                and "it"."id" = :apiKeyId
              )
              and (
                "it"."revokedAt" is null
                or :descendants
              )
            )
          where
            (
              (
                "apiKeys"."hash" = :keyHash
                and (
                  "apiKeys"."revokedAt" is null
                  and (
                    "apiKeys"."expiresAt" is null
                    or "apiKeys"."expiresAt" > :now
                  )
                )
                and (
                  :scope is null
                  or instr("apiKeys"."scopes", json_quote(:scope)) > 0
                )
              )
              and (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "it"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "it"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("it"."projectIds")
                        where
                          value not in (
                            select
                              value
                            from
                              json_each("apiKeys"."projectIds")
                          )
                      )
                    )
                  )
                  and (
                    "apiKeys"."rotatedAt" is null
                    or "it"."id" = "apiKeys"."id"
                  )
                )
                and (
                  "apiKeys"."rotatedAt" is null
                  or not :descendants
                )
              )
            )
          union
          select
            "child"."organizationId",
            "child"."id"
          from
            "apiKeys" "child"
            inner join "lineage" on (
              "child"."organizationId" = "lineage"."organizationId"
              and "child"."createdByKeyId" = "lineage"."id"
            )
          where
            :descendants
        )
      select
        *
      from
        "lineage"
    )
    and "apiKeys"."revokedAt" is null
  )
returning
  "id";
