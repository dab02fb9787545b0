-- src/resources/api-keys/statements.ts

-- creatable.check
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
  case
    when case
      when :expiresAtIsGiven then :expiresAt
      else "apiKeys"."expiresAt"
    end <= :now then case
      when :expiresAtIsGiven then :expiresAt
      else "apiKeys"."expiresAt"
    end
  end as "pastExpiresAt",
  (
    case
      when :userIdIsGiven then :userId
      else "apiKeys"."userId"
    end is null
    or exists (
      select
        "id"
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
  ) as "userExists",
  not exists (
    select
      1
    from
      json_each(:projectIds)
    where
      not exists (
        select
          "id"
        from
          "projects"
        where
          (
            "projects"."organizationId" = "apiKeys"."organizationId"
            and "projects"."id" = value
          )
      )
  ) as "projectsExist",
  "apiKeys"."rotatedAt" is null as "callerIsUnrotated",
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
  ) as "callerHasScopes",
  (
    "apiKeys"."userId" is null
    or "apiKeys"."userId" is case
      when :userIdIsGiven then :userId
      else "apiKeys"."userId"
    end
  ) as "userIsAccessible",
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
  ) as "projectsAreAccessible",
  (
    "apiKeys"."expiresAt" is null
    or coalesce(
      case
        when :expiresAtIsGiven then :expiresAt
        else "apiKeys"."expiresAt"
      end <= "apiKeys"."expiresAt",
      false
    )
  ) as "callerLivesAsLong",
  "earlier"."id" as "earlierKeyId"
from
  "apiKeys"
  left join "apiKeys" "earlier" on (
    "earlier"."organizationId" = "apiKeys"."organizationId"
    and "earlier"."idempotencyKey" = :idempotencyKey
    and "earlier"."id" <> :id
  )
where
  "apiKeys"."hash" = :caller.keyHash;

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
  "named"."id" is not null as "keyExists",
  (
    "apiKeys"."rotatedAt" is null
    or (
      "named"."id" = "apiKeys"."id"
      and not :descendants
    )
  ) as "callerIsUnrotated",
  (
    (
      "apiKeys"."userId" is null
      or "apiKeys"."userId" is "named"."userId"
    )
    and (
      "apiKeys"."projectIds" is null
      or (
        "named"."projectIds" is not null
        and not exists (
          select
            1
          from
            json_each("named"."projectIds")
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
  ) as "keyIsAccessible"
from
  "apiKeys"
  left join "apiKeys" "named" on (
    (
      "named"."organizationId" = "apiKeys"."organizationId"
      and "named"."id" = :apiKeyId
    )
    and (
      "named"."revokedAt" is null
      or :descendants
    )
  )
where
  "apiKeys"."hash" = :caller.keyHash;

-- deletion.revoked
update "apiKeys"
set
  "revokedAt" = :now,
  "createdByKeyId" = case
    when "ending"."isNamed"
    or not :descendants then "apiKeys"."createdByKeyId"
  end
from
  (
    with recursive
      "lineage" ("organizationId", "id", "hash", "revokedAt", "isNamed") as (
        select
          "named"."organizationId" as "organizationId",
          "named"."id" as "id",
          "named"."hash" as "hash",
          "named"."revokedAt" as "revokedAt",
          1 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on (
            (
              "named"."organizationId" = "apiKeys"."organizationId"
              and "named"."id" = :apiKeyId
            )
            and (
              "named"."revokedAt" is null
              or :descendants
            )
          )
        where
          (
            (
              "apiKeys"."hash" = :caller.keyHash
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
            and ("named"."id" is not null)
            and (
              (
                "apiKeys"."rotatedAt" is null
                or (
                  "named"."id" = "apiKeys"."id"
                  and not :descendants
                )
              )
            )
            and (
              (
                (
                  "apiKeys"."userId" is null
                  or "apiKeys"."userId" is "named"."userId"
                )
                and (
                  "apiKeys"."projectIds" is null
                  or (
                    "named"."projectIds" is not null
                    and not exists (
                      select
                        1
                      from
                        json_each("named"."projectIds")
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
            )
          )
        union
        select
          "session"."organizationId" as "organizationId",
          "session"."id" as "id",
          "session"."hash" as "hash",
          "session"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on (
            (
              "named"."organizationId" = "apiKeys"."organizationId"
              and "named"."id" = :apiKeyId
            )
            and (
              "named"."revokedAt" is null
              or :descendants
            )
          )
          inner join "apiKeys" "session" on (
            "session"."organizationId" = "apiKeys"."organizationId"
            and "session"."createdByKeyId" = "named"."id"
            and "session"."kind" = 'session'
            and "session"."revokedAt" is null
            and "session"."expiresAt" > :now
          )
        where
          (
            (
              "apiKeys"."hash" = :caller.keyHash
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
            and ("named"."id" is not null)
            and (
              (
                "apiKeys"."rotatedAt" is null
                or (
                  "named"."id" = "apiKeys"."id"
                  and not :descendants
                )
              )
            )
            and (
              (
                (
                  "apiKeys"."userId" is null
                  or "apiKeys"."userId" is "named"."userId"
                )
                and (
                  "apiKeys"."projectIds" is null
                  or (
                    "named"."projectIds" is not null
                    and not exists (
                      select
                        1
                      from
                        json_each("named"."projectIds")
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
            )
          )
        union
        select
          "child"."organizationId" as "organizationId",
          "child"."id" as "id",
          "child"."hash" as "hash",
          "child"."revokedAt" as "revokedAt",
          0 as "isNamed"
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
    where
      "revokedAt" is null
  ) as "ending"
where
  "apiKeys"."hash" = + "ending"."hash"
returning
  "id";

-- deletion.revoked.recording
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
  ) + row_number() over () - 1 as "sequence",
  substr(:event.id, 1, 32) || printf('%04x', 0 + row_number() over () - 1) as "id",
  case
    when "revoked"."kind" = 'session' then 'api-key.session-ended'
    else 'api-key.revoked'
  end as "type",
  "revoked"."id" as "resourceId",
  null as "parentId",
  "revoked"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join (
    with recursive
      "lineage" ("organizationId", "id", "hash", "revokedAt", "isNamed") as (
        select
          "named"."organizationId" as "organizationId",
          "named"."id" as "id",
          "named"."hash" as "hash",
          "named"."revokedAt" as "revokedAt",
          1 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on (
            (
              "named"."organizationId" = "apiKeys"."organizationId"
              and "named"."id" = :apiKeyId
            )
            and (
              "named"."revokedAt" is null
              or :descendants
            )
          )
        where
          (
            (
              "apiKeys"."hash" = :caller.keyHash
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
            and ("named"."id" is not null)
            and (
              (
                "apiKeys"."rotatedAt" is null
                or (
                  "named"."id" = "apiKeys"."id"
                  and not :descendants
                )
              )
            )
            and (
              (
                (
                  "apiKeys"."userId" is null
                  or "apiKeys"."userId" is "named"."userId"
                )
                and (
                  "apiKeys"."projectIds" is null
                  or (
                    "named"."projectIds" is not null
                    and not exists (
                      select
                        1
                      from
                        json_each("named"."projectIds")
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
            )
          )
        union
        select
          "session"."organizationId" as "organizationId",
          "session"."id" as "id",
          "session"."hash" as "hash",
          "session"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on (
            (
              "named"."organizationId" = "apiKeys"."organizationId"
              and "named"."id" = :apiKeyId
            )
            and (
              "named"."revokedAt" is null
              or :descendants
            )
          )
          inner join "apiKeys" "session" on (
            "session"."organizationId" = "apiKeys"."organizationId"
            and "session"."createdByKeyId" = "named"."id"
            and "session"."kind" = 'session'
            and "session"."revokedAt" is null
            and "session"."expiresAt" > :now
          )
        where
          (
            (
              "apiKeys"."hash" = :caller.keyHash
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
            and ("named"."id" is not null)
            and (
              (
                "apiKeys"."rotatedAt" is null
                or (
                  "named"."id" = "apiKeys"."id"
                  and not :descendants
                )
              )
            )
            and (
              (
                (
                  "apiKeys"."userId" is null
                  or "apiKeys"."userId" is "named"."userId"
                )
                and (
                  "apiKeys"."projectIds" is null
                  or (
                    "named"."projectIds" is not null
                    and not exists (
                      select
                        1
                      from
                        json_each("named"."projectIds")
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
            )
          )
        union
        select
          "child"."organizationId" as "organizationId",
          "child"."id" as "id",
          "child"."hash" as "hash",
          "child"."revokedAt" as "revokedAt",
          0 as "isNamed"
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
    where
      "revokedAt" is null
  ) as "ending" on true
  inner join "apiKeys" "revoked" on "revoked"."hash" = "ending"."hash"
where
  (
    (
      "apiKeys"."hash" = :caller.keyHash
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

-- endSurplusSessions
update "apiKeys"
set
  "revokedAt" = :now
where
  "apiKeys"."hash" in (
    select
      "hash"
    from
      (
        (
          select
            "session"."id" as "id",
            "session"."hash" as "hash"
          from
            "apiKeys"
            inner join "apiKeys" "session" on (
              "session"."organizationId" = "apiKeys"."organizationId"
              and "session"."createdByKeyId" = "apiKeys"."id"
              and "session"."kind" = 'session'
              and "session"."revokedAt" is null
              and "session"."expiresAt" > :now
            )
          where
            (
              (
                "apiKeys"."hash" = :caller.keyHash
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
              and ("apiKeys"."kind" <> 'session')
              and ("apiKeys"."rotatedAt" is null)
              and (
                (
                  not :expiresAtIsGiven
                  or (
                    "apiKeys"."expiresAt" is null
                    or coalesce(:expiresAt <= "apiKeys"."expiresAt", false)
                  )
                )
              )
            )
          order by
            "session"."id" desc
          limit
            + 20
          offset
            19
        )
      ) as "surplus"
  );

-- insertKey
insert into
  "apiKeys" (
    "organizationId",
    "id",
    "name",
    "kind",
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
    "createdByKeyId",
    "movedTo",
    "suspendedAt"
  )
select
  "apiKeys"."organizationId" as "organizationId",
  :id as "id",
  :name as "name",
  'key' as "kind",
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
  "apiKeys"."id" as "createdByKeyId",
  null as "movedTo",
  null as "suspendedAt"
from
  "apiKeys"
  left join "apiKeys" "earlier" on (
    "earlier"."organizationId" = "apiKeys"."organizationId"
    and "earlier"."idempotencyKey" = :idempotencyKey
    and "earlier"."id" <> :id
  )
where
  (
    (
      "apiKeys"."hash" = :caller.keyHash
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
      when case
        when :expiresAtIsGiven then :expiresAt
        else "apiKeys"."expiresAt"
      end <= :now then case
        when :expiresAtIsGiven then :expiresAt
        else "apiKeys"."expiresAt"
      end
    end is null
    and (
      (
        case
          when :userIdIsGiven then :userId
          else "apiKeys"."userId"
        end is null
        or exists (
          select
            "id"
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
    )
    and (
      not exists (
        select
          1
        from
          json_each(:projectIds)
        where
          not exists (
            select
              "id"
            from
              "projects"
            where
              (
                "projects"."organizationId" = "apiKeys"."organizationId"
                and "projects"."id" = value
              )
          )
      )
    )
    and ("apiKeys"."rotatedAt" is null)
    and (
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
      )
    )
    and (
      (
        "apiKeys"."userId" is null
        or "apiKeys"."userId" is case
          when :userIdIsGiven then :userId
          else "apiKeys"."userId"
        end
      )
    )
    and (
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
      )
    )
    and (
      (
        "apiKeys"."expiresAt" is null
        or coalesce(
          case
            when :expiresAtIsGiven then :expiresAt
            else "apiKeys"."expiresAt"
          end <= "apiKeys"."expiresAt",
          false
        )
      )
    )
    and "earlier"."id" is null
    and (
      (
        select
          count(*)
        from
          (
            (
              select
                1
              from
                "apiKeys" "counted"
              where
                (
                  "counted"."organizationId" = "apiKeys"."organizationId"
                  and "counted"."kind" = 'key'
                  and "counted"."revokedAt" is null
                  and "counted"."rotatedAt" is null
                  and "counted"."expiresAt" is null
                )
              union all
              select
                1
              from
                "apiKeys" "counted"
              where
                (
                  "counted"."organizationId" = "apiKeys"."organizationId"
                  and "counted"."kind" = 'key'
                  and "counted"."revokedAt" is null
                  and "counted"."rotatedAt" is null
                  and "counted"."expiresAt" > :now
                )
              limit
                + :quota.apiKeys
            )
          )
      ) < :quota.apiKeys
    )
  )
returning
  "id",
  "name",
  "kind",
  "scopes",
  "userId",
  "projectIds",
  "expiresAt",
  "rotatedAt",
  "lastUsedAt",
  "createdAt",
  "createdByKeyId";

-- insertKey.recording
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
  'api-key.created' as "type",
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
      "apiKeys"."hash" = :caller.keyHash
      and (
        :caller.scope is null
        or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
      )
      and (
        "apiKeys"."revokedAt" is null
        or "apiKeys"."revokedAt" = :now
      )
      and (
        "apiKeys"."expiresAt" is null
        or "apiKeys"."expiresAt" >= :now
      )
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

-- insertSession
insert into
  "apiKeys" (
    "organizationId",
    "id",
    "name",
    "kind",
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
    "createdByKeyId",
    "movedTo",
    "suspendedAt"
  )
select
  "organizationId" as "organizationId",
  :id as "id",
  coalesce(:name, "apiKeys"."name") as "name",
  'session' as "kind",
  :hash as "hash",
  "scopes" as "scopes",
  "userId" as "userId",
  "projectIds" as "projectIds",
  min(coalesce("apiKeys"."expiresAt", :expiresAt), :expiresAt) as "expiresAt",
  null as "revokedAt",
  null as "rotatedAt",
  null as "lastUsedAt",
  :now as "createdAt",
  null as "idempotencyKey",
  "id" as "createdByKeyId",
  null as "movedTo",
  null as "suspendedAt"
from
  "apiKeys"
where
  (
    (
      "apiKeys"."hash" = :caller.keyHash
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
    and ("apiKeys"."kind" <> 'session')
    and ("apiKeys"."rotatedAt" is null)
    and (
      (
        not :expiresAtIsGiven
        or (
          "apiKeys"."expiresAt" is null
          or coalesce(:expiresAt <= "apiKeys"."expiresAt", false)
        )
      )
    )
  )
returning
  "id",
  "name",
  "kind",
  "scopes",
  "userId",
  "projectIds",
  "expiresAt",
  "rotatedAt",
  "lastUsedAt",
  "createdAt",
  "createdByKeyId";

-- insertSession.recording
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
  'api-key.session-created' as "type",
  :id as "resourceId",
  null as "parentId",
  coalesce(:name, "apiKeys"."name") as "resourceName",
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
      "apiKeys"."hash" = :caller.keyHash
      and (
        :caller.scope is null
        or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
      )
      and (
        "apiKeys"."revokedAt" is null
        or "apiKeys"."revokedAt" = :now
      )
      and (
        "apiKeys"."expiresAt" is null
        or "apiKeys"."expiresAt" >= :now
      )
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

-- insertSuccessor
insert into
  "apiKeys" (
    "organizationId",
    "id",
    "name",
    "kind",
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
    "createdByKeyId",
    "movedTo",
    "suspendedAt"
  )
select
  "named"."organizationId" as "organizationId",
  :id as "id",
  "named"."name" as "name",
  "named"."kind" as "kind",
  :hash as "hash",
  "named"."scopes" as "scopes",
  "named"."userId" as "userId",
  "named"."projectIds" as "projectIds",
  "named"."expiresAt" as "expiresAt",
  null as "revokedAt",
  null as "rotatedAt",
  null as "lastUsedAt",
  :now as "createdAt",
  :idempotencyKey as "idempotencyKey",
  "apiKeys"."id" as "createdByKeyId",
  null as "movedTo",
  null as "suspendedAt"
from
  "apiKeys"
  left join "apiKeys" "named" on (
    (
      "named"."organizationId" = "apiKeys"."organizationId"
      and "named"."id" = :apiKeyId
    )
    and "named"."revokedAt" is null
  )
  left join "apiKeys" "earlier" on (
    "earlier"."organizationId" = "apiKeys"."organizationId"
    and "earlier"."idempotencyKey" = :idempotencyKey
    and "earlier"."id" <> :id
  )
where
  (
    (
      "apiKeys"."hash" = :caller.keyHash
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
    and ("named"."id" is not null)
    and (
      (
        "apiKeys"."rotatedAt" is null
        or "named"."id" = "apiKeys"."id"
      )
    )
    and (
      (
        (
          "apiKeys"."userId" is null
          or "apiKeys"."userId" is "named"."userId"
        )
        and (
          "apiKeys"."projectIds" is null
          or (
            "named"."projectIds" is not null
            and not exists (
              select
                1
              from
                json_each("named"."projectIds")
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
    )
    and ("named"."kind" <> 'session')
    and (
      not exists (
        select
          1
        from
          json_each("named"."scopes")
        where
          value not in (
            select
              value
            from
              json_each("apiKeys"."scopes")
          )
      )
    )
    and (
      (
        "apiKeys"."expiresAt" is null
        or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
      )
    )
    and "earlier"."id" is null
    and ("named"."rotatedAt" is null)
    and (
      (
        "named"."expiresAt" is null
        or "named"."expiresAt" > :now
      )
    )
  )
returning
  "id",
  "name",
  "kind",
  "scopes",
  "userId",
  "projectIds",
  "expiresAt",
  "rotatedAt",
  "lastUsedAt",
  "createdAt",
  "createdByKeyId";

-- insertSuccessor.recording
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
  'api-key.rotated' as "type",
  "named"."id" as "resourceId",
  null as "parentId",
  "named"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join "apiKeys" "named" on (
    "named"."organizationId" = "apiKeys"."organizationId"
    and "named"."id" = :apiKeyId
  )
where
  (
    (
      "apiKeys"."hash" = :caller.keyHash
      and (
        :caller.scope is null
        or instr("apiKeys"."scopes", json_quote(:caller.scope)) > 0
      )
      and (
        "apiKeys"."revokedAt" is null
        or "apiKeys"."revokedAt" = :now
      )
      and (
        "apiKeys"."expiresAt" is null
        or "apiKeys"."expiresAt" >= :now
      )
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

-- listKeys
select
  "named"."id",
  "named"."name",
  "named"."kind",
  "named"."scopes",
  "named"."userId",
  "named"."projectIds",
  "named"."expiresAt",
  "named"."rotatedAt",
  "named"."lastUsedAt",
  "named"."createdAt",
  "named"."createdByKeyId"
from
  "apiKeys"
  inner join "apiKeys" "named" on (
    "named"."organizationId" = "apiKeys"."organizationId"
    and "named"."kind" = :kind
    and "named"."id" > :cursor
    and "named"."revokedAt" is null
  )
where
  (
    (
      "apiKeys"."hash" = :caller.keyHash
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
      "apiKeys"."userId" is null
      and (
        "apiKeys"."projectIds" is null
        or (
          "named"."projectIds" is not null
          and not exists (
            select
              1
            from
              json_each("named"."projectIds")
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
  )
order by
  "named"."id" asc
limit
  + :rowLimit;

-- listOwnKeys
select
  "named"."id",
  "named"."name",
  "named"."kind",
  "named"."scopes",
  "named"."userId",
  "named"."projectIds",
  "named"."expiresAt",
  "named"."rotatedAt",
  "named"."lastUsedAt",
  "named"."createdAt",
  "named"."createdByKeyId"
from
  "apiKeys"
  inner join "apiKeys" "named" on (
    "named"."organizationId" = "apiKeys"."organizationId"
    and "named"."kind" = :kind
    and "named"."id" > :cursor
    and "named"."revokedAt" is null
  )
where
  (
    (
      "apiKeys"."hash" = :caller.keyHash
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
      "named"."userId" = "apiKeys"."userId"
      and (
        "apiKeys"."projectIds" is null
        or (
          "named"."projectIds" is not null
          and not exists (
            select
              1
            from
              json_each("named"."projectIds")
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
  )
order by
  "named"."id" asc
limit
  + :rowLimit;

-- moveFeeds
update "skillFeeds"
set
  "apiKeyId" = :id
where
  (
    "skillFeeds"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "apiKeys" "named" on (
          (
            "named"."organizationId" = "apiKeys"."organizationId"
            and "named"."id" = :apiKeyId
          )
          and "named"."revokedAt" is null
        )
        left join "apiKeys" "earlier" on (
          "earlier"."organizationId" = "apiKeys"."organizationId"
          and "earlier"."idempotencyKey" = :idempotencyKey
          and "earlier"."id" <> :id
        )
      where
        (
          (
            "apiKeys"."hash" = :caller.keyHash
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
          and ("named"."id" is not null)
          and (
            (
              "apiKeys"."rotatedAt" is null
              or "named"."id" = "apiKeys"."id"
            )
          )
          and (
            (
              (
                "apiKeys"."userId" is null
                or "apiKeys"."userId" is "named"."userId"
              )
              and (
                "apiKeys"."projectIds" is null
                or (
                  "named"."projectIds" is not null
                  and not exists (
                    select
                      1
                    from
                      json_each("named"."projectIds")
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
          )
          and ("named"."kind" <> 'session')
          and (
            not exists (
              select
                1
              from
                json_each("named"."scopes")
              where
                value not in (
                  select
                    value
                  from
                    json_each("apiKeys"."scopes")
                )
            )
          )
          and (
            (
              "apiKeys"."expiresAt" is null
              or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
            )
          )
          and "earlier"."id" is null
          and ("named"."rotatedAt" is null)
          and (
            (
              "named"."expiresAt" is null
              or "named"."expiresAt" > :now
            )
          )
        )
    )
    and "skillFeeds"."apiKeyId" = :apiKeyId
  );

-- ownDeletable.check
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
  "named"."id" as "ownId"
from
  "apiKeys"
  left join "apiKeys" "named" on "named"."hash" = "apiKeys"."hash"
where
  "apiKeys"."hash" = :caller.keyHash;

-- ownDeletion.revoked
update "apiKeys"
set
  "revokedAt" = :now,
  "createdByKeyId" = case
    when "ending"."isNamed"
    or not :descendants then "apiKeys"."createdByKeyId"
  end
from
  (
    with recursive
      "lineage" ("organizationId", "id", "hash", "revokedAt", "isNamed") as (
        select
          "named"."organizationId" as "organizationId",
          "named"."id" as "id",
          "named"."hash" as "hash",
          "named"."revokedAt" as "revokedAt",
          1 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on "named"."hash" = "apiKeys"."hash"
        where
          (
            "apiKeys"."hash" = :caller.keyHash
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
        union
        select
          "session"."organizationId" as "organizationId",
          "session"."id" as "id",
          "session"."hash" as "hash",
          "session"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on "named"."hash" = "apiKeys"."hash"
          inner join "apiKeys" "session" on (
            "session"."organizationId" = "apiKeys"."organizationId"
            and "session"."createdByKeyId" = "named"."id"
            and "session"."kind" = 'session'
            and "session"."revokedAt" is null
            and "session"."expiresAt" > :now
          )
        where
          (
            "apiKeys"."hash" = :caller.keyHash
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
        union
        select
          "child"."organizationId" as "organizationId",
          "child"."id" as "id",
          "child"."hash" as "hash",
          "child"."revokedAt" as "revokedAt",
          0 as "isNamed"
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
    where
      "revokedAt" is null
  ) as "ending"
where
  "apiKeys"."hash" = + "ending"."hash"
returning
  "id";

-- ownDeletion.revoked.recording
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
  ) + row_number() over () - 1 as "sequence",
  substr(:event.id, 1, 32) || printf('%04x', 0 + row_number() over () - 1) as "id",
  case
    when "revoked"."kind" = 'session' then 'api-key.session-ended'
    else 'api-key.revoked'
  end as "type",
  "revoked"."id" as "resourceId",
  null as "parentId",
  "revoked"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join (
    with recursive
      "lineage" ("organizationId", "id", "hash", "revokedAt", "isNamed") as (
        select
          "named"."organizationId" as "organizationId",
          "named"."id" as "id",
          "named"."hash" as "hash",
          "named"."revokedAt" as "revokedAt",
          1 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on "named"."hash" = "apiKeys"."hash"
        where
          (
            "apiKeys"."hash" = :caller.keyHash
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
        union
        select
          "session"."organizationId" as "organizationId",
          "session"."id" as "id",
          "session"."hash" as "hash",
          "session"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on "named"."hash" = "apiKeys"."hash"
          inner join "apiKeys" "session" on (
            "session"."organizationId" = "apiKeys"."organizationId"
            and "session"."createdByKeyId" = "named"."id"
            and "session"."kind" = 'session'
            and "session"."revokedAt" is null
            and "session"."expiresAt" > :now
          )
        where
          (
            "apiKeys"."hash" = :caller.keyHash
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
        union
        select
          "child"."organizationId" as "organizationId",
          "child"."id" as "id",
          "child"."hash" as "hash",
          "child"."revokedAt" as "revokedAt",
          0 as "isNamed"
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
    where
      "revokedAt" is null
  ) as "ending" on true
  inner join "apiKeys" "revoked" on "revoked"."hash" = "ending"."hash"
where
  (
    (
      "apiKeys"."hash" = :caller.keyHash
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

-- recordEndedSessions
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
  ) + row_number() over () - 1 as "sequence",
  substr(:event.id, 1, 32) || printf('%04x', 32768 + row_number() over () - 1) as "id",
  'api-key.session-ended' as "type",
  "session"."id" as "resourceId",
  null as "parentId",
  "session"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join "apiKeys" "session" on "session"."hash" in (
    select
      "hash"
    from
      (
        (
          select
            "session"."id" as "id",
            "session"."hash" as "hash"
          from
            "apiKeys"
            left join "apiKeys" "named" on (
              (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = :apiKeyId
              )
              and "named"."revokedAt" is null
            )
            left join "apiKeys" "earlier" on (
              "earlier"."organizationId" = "apiKeys"."organizationId"
              and "earlier"."idempotencyKey" = :idempotencyKey
              and "earlier"."id" <> :id
            )
            inner join "apiKeys" "session" on (
              (
                "session"."organizationId" = "apiKeys"."organizationId"
                and "session"."createdByKeyId" = "named"."id"
                and "session"."kind" = 'session'
                and "session"."revokedAt" is null
                and "session"."expiresAt" > :now
              )
              and "session"."expiresAt" > :overlapEndsAt
            )
          where
            (
              (
                "apiKeys"."hash" = :caller.keyHash
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
              and ("named"."id" is not null)
              and (
                (
                  "apiKeys"."rotatedAt" is null
                  or "named"."id" = "apiKeys"."id"
                )
              )
              and (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "named"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
              )
              and ("named"."kind" <> 'session')
              and (
                not exists (
                  select
                    1
                  from
                    json_each("named"."scopes")
                  where
                    value not in (
                      select
                        value
                      from
                        json_each("apiKeys"."scopes")
                    )
                )
              )
              and (
                (
                  "apiKeys"."expiresAt" is null
                  or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
                )
              )
              and "earlier"."id" is null
              and ("named"."rotatedAt" is null)
              and (
                (
                  "named"."expiresAt" is null
                  or "named"."expiresAt" > :now
                )
              )
            )
        )
      ) as "shortened"
  )
where
  (
    (
      "apiKeys"."hash" = :caller.keyHash
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
    and :overlapEndsAt <= :now
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
            and "recorded"."id" = substr(:event.id, 1, 32) || printf('%04x', 32768 + 0)
          )
      )
    )
  );

-- recordSurplusSessions
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
  ) + row_number() over () - 1 as "sequence",
  substr(:event.id, 1, 32) || printf('%04x', 32768 + row_number() over () - 1) as "id",
  'api-key.session-ended' as "type",
  "session"."id" as "resourceId",
  null as "parentId",
  "session"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join "apiKeys" "session" on "session"."hash" in (
    select
      "hash"
    from
      (
        (
          select
            "session"."id" as "id",
            "session"."hash" as "hash"
          from
            "apiKeys"
            inner join "apiKeys" "session" on (
              "session"."organizationId" = "apiKeys"."organizationId"
              and "session"."createdByKeyId" = "apiKeys"."id"
              and "session"."kind" = 'session'
              and "session"."revokedAt" is null
              and "session"."expiresAt" > :now
            )
          where
            (
              (
                "apiKeys"."hash" = :caller.keyHash
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
              and ("apiKeys"."kind" <> 'session')
              and ("apiKeys"."rotatedAt" is null)
              and (
                (
                  not :expiresAtIsGiven
                  or (
                    "apiKeys"."expiresAt" is null
                    or coalesce(:expiresAt <= "apiKeys"."expiresAt", false)
                  )
                )
              )
            )
          order by
            "session"."id" desc
          limit
            + 20
          offset
            19
        )
      ) as "surplus"
  )
where
  (
    (
      "apiKeys"."hash" = :caller.keyHash
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
            and "recorded"."id" = substr(:event.id, 1, 32) || printf('%04x', 32768 + 0)
          )
      )
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
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "apiKeys" "named" on (
          (
            "named"."organizationId" = "apiKeys"."organizationId"
            and "named"."id" = :apiKeyId
          )
          and "named"."revokedAt" is null
        )
        left join "apiKeys" "earlier" on (
          "earlier"."organizationId" = "apiKeys"."organizationId"
          and "earlier"."idempotencyKey" = :idempotencyKey
          and "earlier"."id" <> :id
        )
      where
        (
          (
            "apiKeys"."hash" = :caller.keyHash
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
          and ("named"."id" is not null)
          and (
            (
              "apiKeys"."rotatedAt" is null
              or "named"."id" = "apiKeys"."id"
            )
          )
          and (
            (
              (
                "apiKeys"."userId" is null
                or "apiKeys"."userId" is "named"."userId"
              )
              and (
                "apiKeys"."projectIds" is null
                or (
                  "named"."projectIds" is not null
                  and not exists (
                    select
                      1
                    from
                      json_each("named"."projectIds")
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
          )
          and ("named"."kind" <> 'session')
          and (
            not exists (
              select
                1
              from
                json_each("named"."scopes")
              where
                value not in (
                  select
                    value
                  from
                    json_each("apiKeys"."scopes")
                )
            )
          )
          and (
            (
              "apiKeys"."expiresAt" is null
              or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
            )
          )
          and "earlier"."id" is null
          and ("named"."rotatedAt" is null)
          and (
            (
              "named"."expiresAt" is null
              or "named"."expiresAt" > :now
            )
          )
        )
    )
    and "apiKeys"."id" = :apiKeyId
  );

-- rotatable.check
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
  "named"."id" is not null as "keyExists",
  (
    "apiKeys"."rotatedAt" is null
    or "named"."id" = "apiKeys"."id"
  ) as "callerIsUnrotated",
  (
    (
      "apiKeys"."userId" is null
      or "apiKeys"."userId" is "named"."userId"
    )
    and (
      "apiKeys"."projectIds" is null
      or (
        "named"."projectIds" is not null
        and not exists (
          select
            1
          from
            json_each("named"."projectIds")
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
  ) as "keyIsAccessible",
  "named"."kind" <> 'session' as "keyIsNoSession",
  not exists (
    select
      1
    from
      json_each("named"."scopes")
    where
      value not in (
        select
          value
        from
          json_each("apiKeys"."scopes")
      )
  ) as "callerHasScopes",
  (
    "apiKeys"."expiresAt" is null
    or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
  ) as "callerLivesAsLong",
  "earlier"."id" as "earlierKeyId",
  "named"."rotatedAt" is null as "keyIsUnrotated",
  (
    "named"."expiresAt" is null
    or "named"."expiresAt" > :now
  ) as "keyIsUnexpired"
from
  "apiKeys"
  left join "apiKeys" "named" on (
    (
      "named"."organizationId" = "apiKeys"."organizationId"
      and "named"."id" = :apiKeyId
    )
    and "named"."revokedAt" is null
  )
  left join "apiKeys" "earlier" on (
    "earlier"."organizationId" = "apiKeys"."organizationId"
    and "earlier"."idempotencyKey" = :idempotencyKey
    and "earlier"."id" <> :id
  )
where
  "apiKeys"."hash" = :caller.keyHash;

-- sessionCreatable.check
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
  "apiKeys"."kind" <> 'session' as "callerIsNoSession",
  "apiKeys"."rotatedAt" is null as "callerIsUnrotated",
  (
    not :expiresAtIsGiven
    or (
      "apiKeys"."expiresAt" is null
      or coalesce(:expiresAt <= "apiKeys"."expiresAt", false)
    )
  ) as "callerLivesAsLong"
from
  "apiKeys"
where
  "apiKeys"."hash" = :caller.keyHash;

-- shortenSessions
update "apiKeys"
set
  "expiresAt" = :overlapEndsAt
where
  "apiKeys"."hash" in (
    select
      "hash"
    from
      (
        (
          select
            "session"."id" as "id",
            "session"."hash" as "hash"
          from
            "apiKeys"
            left join "apiKeys" "named" on (
              (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = :apiKeyId
              )
              and "named"."revokedAt" is null
            )
            left join "apiKeys" "earlier" on (
              "earlier"."organizationId" = "apiKeys"."organizationId"
              and "earlier"."idempotencyKey" = :idempotencyKey
              and "earlier"."id" <> :id
            )
            inner join "apiKeys" "session" on (
              (
                "session"."organizationId" = "apiKeys"."organizationId"
                and "session"."createdByKeyId" = "named"."id"
                and "session"."kind" = 'session'
                and "session"."revokedAt" is null
                and "session"."expiresAt" > :now
              )
              and "session"."expiresAt" > :overlapEndsAt
            )
          where
            (
              (
                "apiKeys"."hash" = :caller.keyHash
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
              and ("named"."id" is not null)
              and (
                (
                  "apiKeys"."rotatedAt" is null
                  or "named"."id" = "apiKeys"."id"
                )
              )
              and (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "named"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
              )
              and ("named"."kind" <> 'session')
              and (
                not exists (
                  select
                    1
                  from
                    json_each("named"."scopes")
                  where
                    value not in (
                      select
                        value
                      from
                        json_each("apiKeys"."scopes")
                    )
                )
              )
              and (
                (
                  "apiKeys"."expiresAt" is null
                  or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
                )
              )
              and "earlier"."id" is null
              and ("named"."rotatedAt" is null)
              and (
                (
                  "named"."expiresAt" is null
                  or "named"."expiresAt" > :now
                )
              )
            )
        )
      ) as "shortened"
  );
