-- src/resources/pins/statements.ts

-- appendPin
insert into
  "pins" ("organizationId", "userId", "resourceType", "resourceId", "position", "createdAt")
select
  "apiKeys"."organizationId" as "organizationId",
  "apiKeys"."userId" as "userId",
  :resourceType as "resourceType",
  :resourceId as "resourceId",
  coalesce(
    (
      select
        max("position")
      from
        "pins"
      where
        (
          "pins"."organizationId" = "apiKeys"."organizationId"
          and "pins"."userId" = "apiKeys"."userId"
        )
    ),
    0
  ) + 1073741824 as "position",
  :now as "createdAt"
from
  "apiKeys"
  left join "pins" "own" on (
    "own"."organizationId" = "apiKeys"."organizationId"
    and "own"."userId" = "apiKeys"."userId"
    and "own"."resourceType" = + :resourceType
    and "own"."resourceId" = + :resourceId
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
        case :resourceType
          when 'session' then exists (
            select
              1
            from
              "sessions"
            where
              "sessions"."organizationId" = "apiKeys"."organizationId"
              and "sessions"."id" = + :resourceId
              and case
                when ("sessions"."organizationId", "sessions"."projectId") in (
                  select
                    "projects"."organizationId",
                    "projects"."id"
                  from
                    "projects"
                ) then 1
                else 0
              end
              and (
                "apiKeys"."projectIds" is null
                or "sessions"."projectId" in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
          )
          when 'pull_request' then exists (
            select
              1
            from
              "pullRequests"
            where
              "pullRequests"."organizationId" = "apiKeys"."organizationId"
              and "pullRequests"."id" = + :resourceId
              and case
                when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
                  select
                    "projects"."organizationId",
                    "projects"."id"
                  from
                    "projects"
                ) then 1
                else 0
              end
              and (
                "apiKeys"."projectIds" is null
                or "pullRequests"."projectId" in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
          )
          else case
            when ("apiKeys"."organizationId", :resourceId) in (
              select
                "projects"."organizationId",
                "projects"."id"
              from
                "projects"
            ) then 1
            else 0
          end
          and (
            "apiKeys"."projectIds" is null
            or :resourceId in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        end
      )
      and (
        case
          when "own"."position" is not null then true
          else (
            select
              count(*)
            from
              "pins" "counted"
            where
              (
                "counted"."organizationId" = "apiKeys"."organizationId"
                and "counted"."userId" = "apiKeys"."userId"
                and case "counted"."resourceType"
                  when 'session' then exists (
                    select
                      1
                    from
                      "sessions"
                    where
                      "sessions"."organizationId" = "counted"."organizationId"
                      and "sessions"."id" = "counted"."resourceId"
                      and case
                        when ("sessions"."organizationId", "sessions"."projectId") in (
                          select
                            "projects"."organizationId",
                            "projects"."id"
                          from
                            "projects"
                        ) then 1
                        else 0
                      end
                      and true
                  )
                  when 'pull_request' then exists (
                    select
                      1
                    from
                      "pullRequests"
                    where
                      "pullRequests"."organizationId" = "counted"."organizationId"
                      and "pullRequests"."id" = "counted"."resourceId"
                      and case
                        when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
                          select
                            "projects"."organizationId",
                            "projects"."id"
                          from
                            "projects"
                        ) then 1
                        else 0
                      end
                      and true
                  )
                  else case
                    when ("counted"."organizationId", "counted"."resourceId") in (
                      select
                        "projects"."organizationId",
                        "projects"."id"
                      from
                        "projects"
                    ) then 1
                    else 0
                  end
                  and true
                end
              )
          ) < :pinLimit
        end
      )
    )
    and (
      "apiKeys"."userId" is not null
      and "own"."position" is null
    )
  );

-- appendPin.recording
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
  'pin.created' as "type",
  :resourceId as "resourceId",
  :resourceType as "parentId",
  null as "resourceName",
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
  case :resourceType
    when 'session' then exists (
      select
        1
      from
        "sessions"
      where
        "sessions"."organizationId" = "apiKeys"."organizationId"
        and "sessions"."id" = + :resourceId
        and case
          when ("sessions"."organizationId", "sessions"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        and (
          "apiKeys"."projectIds" is null
          or "sessions"."projectId" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
    )
    when 'pull_request' then exists (
      select
        1
      from
        "pullRequests"
      where
        "pullRequests"."organizationId" = "apiKeys"."organizationId"
        and "pullRequests"."id" = + :resourceId
        and case
          when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        and (
          "apiKeys"."projectIds" is null
          or "pullRequests"."projectId" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
    )
    else case
      when ("apiKeys"."organizationId", :resourceId) in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    and (
      "apiKeys"."projectIds" is null
      or :resourceId in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
  end as "resourceExists",
  "own"."position" is not null as "pinExists"
from
  "apiKeys"
  left join "pins" "own" on (
    "own"."organizationId" = "apiKeys"."organizationId"
    and "own"."userId" = "apiKeys"."userId"
    and "own"."resourceType" = + :resourceType
    and "own"."resourceId" = + :resourceId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- deletePin
delete from "pins"
where
  (
    "pins"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "pins" "own" on (
          "own"."organizationId" = "apiKeys"."organizationId"
          and "own"."userId" = "apiKeys"."userId"
          and "own"."resourceType" = + :resourceType
          and "own"."resourceId" = + :resourceId
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
          and (
            case :resourceType
              when 'session' then exists (
                select
                  1
                from
                  "sessions"
                where
                  "sessions"."organizationId" = "apiKeys"."organizationId"
                  and "sessions"."id" = + :resourceId
                  and case
                    when ("sessions"."organizationId", "sessions"."projectId") in (
                      select
                        "projects"."organizationId",
                        "projects"."id"
                      from
                        "projects"
                    ) then 1
                    else 0
                  end
                  and (
                    "apiKeys"."projectIds" is null
                    or "sessions"."projectId" in (
                      select
                        value
                      from
                        json_each("apiKeys"."projectIds")
                    )
                  )
              )
              when 'pull_request' then exists (
                select
                  1
                from
                  "pullRequests"
                where
                  "pullRequests"."organizationId" = "apiKeys"."organizationId"
                  and "pullRequests"."id" = + :resourceId
                  and case
                    when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
                      select
                        "projects"."organizationId",
                        "projects"."id"
                      from
                        "projects"
                    ) then 1
                    else 0
                  end
                  and (
                    "apiKeys"."projectIds" is null
                    or "pullRequests"."projectId" in (
                      select
                        value
                      from
                        json_each("apiKeys"."projectIds")
                    )
                  )
              )
              else case
                when ("apiKeys"."organizationId", :resourceId) in (
                  select
                    "projects"."organizationId",
                    "projects"."id"
                  from
                    "projects"
                ) then 1
                else 0
              end
              and (
                "apiKeys"."projectIds" is null
                or :resourceId in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
            end
          )
          and ("own"."position" is not null)
        )
    )
    and "pins"."userId" = (
      select
        "apiKeys"."userId"
      from
        "apiKeys"
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
    )
    and "pins"."resourceType" = + :resourceType
    and "pins"."resourceId" = + :resourceId
  )
returning
  "resourceId";

-- deletePin.recording
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
  'pin.deleted' as "type",
  :resourceId as "resourceId",
  :resourceType as "parentId",
  null as "resourceName",
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

-- pinnable.check
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
  case :resourceType
    when 'session' then exists (
      select
        1
      from
        "sessions"
      where
        "sessions"."organizationId" = "apiKeys"."organizationId"
        and "sessions"."id" = + :resourceId
        and case
          when ("sessions"."organizationId", "sessions"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        and (
          "apiKeys"."projectIds" is null
          or "sessions"."projectId" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
    )
    when 'pull_request' then exists (
      select
        1
      from
        "pullRequests"
      where
        "pullRequests"."organizationId" = "apiKeys"."organizationId"
        and "pullRequests"."id" = + :resourceId
        and case
          when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        and (
          "apiKeys"."projectIds" is null
          or "pullRequests"."projectId" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
    )
    else case
      when ("apiKeys"."organizationId", :resourceId) in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    and (
      "apiKeys"."projectIds" is null
      or :resourceId in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
  end as "resourceExists",
  "own"."position" is null as "isNew"
from
  "apiKeys"
  left join "pins" "own" on (
    "own"."organizationId" = "apiKeys"."organizationId"
    and "own"."userId" = "apiKeys"."userId"
    and "own"."resourceType" = + :resourceType
    and "own"."resourceId" = + :resourceId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- place
insert into
  "pins" ("organizationId", "userId", "resourceType", "resourceId", "position", "createdAt")
select
  "organizationId" as "organizationId",
  "userId" as "userId",
  :resourceType as "resourceType",
  :resourceId as "resourceId",
  coalesce(
    case abs("targetPosition" - "neighbourPosition")
      when 2 then ("targetPosition" + "neighbourPosition") / 2
      else ("targetPosition" + "neighbourPosition") / 4 * 2
    end,
    "targetPosition" + cast(:direction as integer) * 1073741824
  ) as "position",
  :now as "createdAt"
from
  (
    select
      "target"."organizationId",
      "target"."userId",
      "target"."position" as "targetPosition",
      (
        select
          cast(:direction as integer) * min(cast(:direction as integer) * "position")
        from
          "pins" "other"
        where
          (
            "other"."organizationId" = "target"."organizationId"
            and "other"."userId" = "target"."userId"
            and not (
              "other"."resourceType" = + :resourceType
              and "other"."resourceId" = + :resourceId
            )
            and cast(:direction as integer) * "other"."position" > cast(:direction as integer) * "target"."position"
          )
      ) as "neighbourPosition",
      "own"."position" as "ownPosition"
    from
      "apiKeys"
      left join "pins" "own" on (
        "own"."organizationId" = "apiKeys"."organizationId"
        and "own"."userId" = "apiKeys"."userId"
        and "own"."resourceType" = + :resourceType
        and "own"."resourceId" = + :resourceId
      )
      left join "pins" "target" on (
        "target"."organizationId" = "apiKeys"."organizationId"
        and "target"."userId" = "apiKeys"."userId"
        and "target"."resourceType" = + :targetType
        and "target"."resourceId" = + :targetId
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
        and (
          case :resourceType
            when 'session' then exists (
              select
                1
              from
                "sessions"
              where
                "sessions"."organizationId" = "apiKeys"."organizationId"
                and "sessions"."id" = + :resourceId
                and case
                  when ("sessions"."organizationId", "sessions"."projectId") in (
                    select
                      "projects"."organizationId",
                      "projects"."id"
                    from
                      "projects"
                  ) then 1
                  else 0
                end
                and (
                  "apiKeys"."projectIds" is null
                  or "sessions"."projectId" in (
                    select
                      value
                    from
                      json_each("apiKeys"."projectIds")
                  )
                )
            )
            when 'pull_request' then exists (
              select
                1
              from
                "pullRequests"
              where
                "pullRequests"."organizationId" = "apiKeys"."organizationId"
                and "pullRequests"."id" = + :resourceId
                and case
                  when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
                    select
                      "projects"."organizationId",
                      "projects"."id"
                    from
                      "projects"
                  ) then 1
                  else 0
                end
                and (
                  "apiKeys"."projectIds" is null
                  or "pullRequests"."projectId" in (
                    select
                      value
                    from
                      json_each("apiKeys"."projectIds")
                  )
                )
            )
            else case
              when ("apiKeys"."organizationId", :resourceId) in (
                select
                  "projects"."organizationId",
                  "projects"."id"
                from
                  "projects"
              ) then 1
              else 0
            end
            and (
              "apiKeys"."projectIds" is null
              or :resourceId in (
                select
                  value
                from
                  json_each("apiKeys"."projectIds")
              )
            )
          end
        )
        and (
          (
            "target"."position" is not null
            and case :targetType
              when 'session' then exists (
                select
                  1
                from
                  "sessions"
                where
                  "sessions"."organizationId" = "apiKeys"."organizationId"
                  and "sessions"."id" = + :targetId
                  and case
                    when ("sessions"."organizationId", "sessions"."projectId") in (
                      select
                        "projects"."organizationId",
                        "projects"."id"
                      from
                        "projects"
                    ) then 1
                    else 0
                  end
                  and (
                    "apiKeys"."projectIds" is null
                    or "sessions"."projectId" in (
                      select
                        value
                      from
                        json_each("apiKeys"."projectIds")
                    )
                  )
              )
              when 'pull_request' then exists (
                select
                  1
                from
                  "pullRequests"
                where
                  "pullRequests"."organizationId" = "apiKeys"."organizationId"
                  and "pullRequests"."id" = + :targetId
                  and case
                    when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
                      select
                        "projects"."organizationId",
                        "projects"."id"
                      from
                        "projects"
                    ) then 1
                    else 0
                  end
                  and (
                    "apiKeys"."projectIds" is null
                    or "pullRequests"."projectId" in (
                      select
                        value
                      from
                        json_each("apiKeys"."projectIds")
                    )
                  )
              )
              else case
                when ("apiKeys"."organizationId", :targetId) in (
                  select
                    "projects"."organizationId",
                    "projects"."id"
                  from
                    "projects"
                ) then 1
                else 0
              end
              and (
                "apiKeys"."projectIds" is null
                or :targetId in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
            end
          )
        )
        and (
          case
            when "own"."position" is not null then true
            else (
              select
                count(*)
              from
                "pins" "counted"
              where
                (
                  "counted"."organizationId" = "apiKeys"."organizationId"
                  and "counted"."userId" = "apiKeys"."userId"
                  and case "counted"."resourceType"
                    when 'session' then exists (
                      select
                        1
                      from
                        "sessions"
                      where
                        "sessions"."organizationId" = "counted"."organizationId"
                        and "sessions"."id" = "counted"."resourceId"
                        and case
                          when ("sessions"."organizationId", "sessions"."projectId") in (
                            select
                              "projects"."organizationId",
                              "projects"."id"
                            from
                              "projects"
                          ) then 1
                          else 0
                        end
                        and true
                    )
                    when 'pull_request' then exists (
                      select
                        1
                      from
                        "pullRequests"
                      where
                        "pullRequests"."organizationId" = "counted"."organizationId"
                        and "pullRequests"."id" = "counted"."resourceId"
                        and case
                          when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
                            select
                              "projects"."organizationId",
                              "projects"."id"
                            from
                              "projects"
                          ) then 1
                          else 0
                        end
                        and true
                    )
                    else case
                      when ("counted"."organizationId", "counted"."resourceId") in (
                        select
                          "projects"."organizationId",
                          "projects"."id"
                        from
                          "projects"
                      ) then 1
                      else 0
                    end
                    and true
                  end
                )
            ) < :pinLimit
          end
        )
      )
    limit
      + 1
  ) "placement"
where
  case
    when "ownPosition" is null then true
    when "ownPosition" = "targetPosition" then false
    when cast(:direction as integer) * "ownPosition" < cast(:direction as integer) * "targetPosition" then true
    else cast(:direction as integer) * "ownPosition" > cast(:direction as integer) * "neighbourPosition"
  end
on conflict ("pins"."organizationId", "pins"."userId", "pins"."resourceType", "pins"."resourceId") do update
set
  "position" = excluded."position"
returning
  "resourceId";

-- place.recording
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
  'pin.placed' as "type",
  :resourceId as "resourceId",
  :resourceType as "parentId",
  null as "resourceName",
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

-- placeable.check
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
  case :resourceType
    when 'session' then exists (
      select
        1
      from
        "sessions"
      where
        "sessions"."organizationId" = "apiKeys"."organizationId"
        and "sessions"."id" = + :resourceId
        and case
          when ("sessions"."organizationId", "sessions"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        and (
          "apiKeys"."projectIds" is null
          or "sessions"."projectId" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
    )
    when 'pull_request' then exists (
      select
        1
      from
        "pullRequests"
      where
        "pullRequests"."organizationId" = "apiKeys"."organizationId"
        and "pullRequests"."id" = + :resourceId
        and case
          when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        and (
          "apiKeys"."projectIds" is null
          or "pullRequests"."projectId" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
    )
    else case
      when ("apiKeys"."organizationId", :resourceId) in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    and (
      "apiKeys"."projectIds" is null
      or :resourceId in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
  end as "resourceExists",
  (
    "target"."position" is not null
    and case :targetType
      when 'session' then exists (
        select
          1
        from
          "sessions"
        where
          "sessions"."organizationId" = "apiKeys"."organizationId"
          and "sessions"."id" = + :targetId
          and case
            when ("sessions"."organizationId", "sessions"."projectId") in (
              select
                "projects"."organizationId",
                "projects"."id"
              from
                "projects"
            ) then 1
            else 0
          end
          and (
            "apiKeys"."projectIds" is null
            or "sessions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
      )
      when 'pull_request' then exists (
        select
          1
        from
          "pullRequests"
        where
          "pullRequests"."organizationId" = "apiKeys"."organizationId"
          and "pullRequests"."id" = + :targetId
          and case
            when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
              select
                "projects"."organizationId",
                "projects"."id"
              from
                "projects"
            ) then 1
            else 0
          end
          and (
            "apiKeys"."projectIds" is null
            or "pullRequests"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
      )
      else case
        when ("apiKeys"."organizationId", :targetId) in (
          select
            "projects"."organizationId",
            "projects"."id"
          from
            "projects"
        ) then 1
        else 0
      end
      and (
        "apiKeys"."projectIds" is null
        or :targetId in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    end
  ) as "targetIsPinned",
  case
    when "own"."position" is not null then true
    else (
      select
        count(*)
      from
        "pins" "counted"
      where
        (
          "counted"."organizationId" = "apiKeys"."organizationId"
          and "counted"."userId" = "apiKeys"."userId"
          and case "counted"."resourceType"
            when 'session' then exists (
              select
                1
              from
                "sessions"
              where
                "sessions"."organizationId" = "counted"."organizationId"
                and "sessions"."id" = "counted"."resourceId"
                and case
                  when ("sessions"."organizationId", "sessions"."projectId") in (
                    select
                      "projects"."organizationId",
                      "projects"."id"
                    from
                      "projects"
                  ) then 1
                  else 0
                end
                and true
            )
            when 'pull_request' then exists (
              select
                1
              from
                "pullRequests"
              where
                "pullRequests"."organizationId" = "counted"."organizationId"
                and "pullRequests"."id" = "counted"."resourceId"
                and case
                  when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
                    select
                      "projects"."organizationId",
                      "projects"."id"
                    from
                      "projects"
                  ) then 1
                  else 0
                end
                and true
            )
            else case
              when ("counted"."organizationId", "counted"."resourceId") in (
                select
                  "projects"."organizationId",
                  "projects"."id"
                from
                  "projects"
              ) then 1
              else 0
            end
            and true
          end
        )
    ) < :pinLimit
  end as "isWithinLimit"
from
  "apiKeys"
  left join "pins" "own" on (
    "own"."organizationId" = "apiKeys"."organizationId"
    and "own"."userId" = "apiKeys"."userId"
    and "own"."resourceType" = + :resourceType
    and "own"."resourceId" = + :resourceId
  )
  left join "pins" "target" on (
    "target"."organizationId" = "apiKeys"."organizationId"
    and "target"."userId" = "apiKeys"."userId"
    and "target"."resourceType" = + :targetType
    and "target"."resourceId" = + :targetId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- renumber
insert into
  "pins" ("organizationId", "userId", "resourceType", "resourceId", "position", "createdAt")
select
  "pins"."organizationId",
  "pins"."userId",
  "pins"."resourceType",
  "pins"."resourceId",
  row_number() over (
    order by
      "pins"."position"
  ) * 1073741824 as "position",
  "pins"."createdAt"
from
  "apiKeys"
  inner join "pins" "own" on (
    "own"."organizationId" = "apiKeys"."organizationId"
    and "own"."userId" = "apiKeys"."userId"
    and "own"."resourceType" = + :resourceType
    and "own"."resourceId" = + :resourceId
  )
  inner join "pins" on (
    "pins"."organizationId" = "own"."organizationId"
    and "pins"."userId" = "own"."userId"
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
    and "own"."position" % 2 <> 0
  )
on conflict ("pins"."organizationId", "pins"."userId", "pins"."resourceType", "pins"."resourceId") do update
set
  "position" = excluded."position";

-- selectPin
select
  "own"."resourceType",
  "own"."resourceId",
  coalesce("sessions"."name", "pullRequests"."name", "projects"."name") as "name",
  "own"."createdAt"
from
  "apiKeys"
  left join "pins" "own" on (
    "own"."organizationId" = "apiKeys"."organizationId"
    and "own"."userId" = "apiKeys"."userId"
    and "own"."resourceType" = + :resourceType
    and "own"."resourceId" = + :resourceId
  )
  left join "sessions" on (
    "sessions"."organizationId" = "own"."organizationId"
    and "sessions"."id" = case "own"."resourceType"
      when 'session' then "own"."resourceId"
    end
  )
  left join "pullRequests" on (
    "pullRequests"."organizationId" = "own"."organizationId"
    and "pullRequests"."id" = case "own"."resourceType"
      when 'pull_request' then "own"."resourceId"
    end
  )
  left join "projects" on (
    "projects"."organizationId" = "own"."organizationId"
    and "projects"."id" = case "own"."resourceType"
      when 'project' then "own"."resourceId"
    end
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
        case :resourceType
          when 'session' then exists (
            select
              1
            from
              "sessions"
            where
              "sessions"."organizationId" = "apiKeys"."organizationId"
              and "sessions"."id" = + :resourceId
              and case
                when ("sessions"."organizationId", "sessions"."projectId") in (
                  select
                    "projects"."organizationId",
                    "projects"."id"
                  from
                    "projects"
                ) then 1
                else 0
              end
              and (
                "apiKeys"."projectIds" is null
                or "sessions"."projectId" in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
          )
          when 'pull_request' then exists (
            select
              1
            from
              "pullRequests"
            where
              "pullRequests"."organizationId" = "apiKeys"."organizationId"
              and "pullRequests"."id" = + :resourceId
              and case
                when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
                  select
                    "projects"."organizationId",
                    "projects"."id"
                  from
                    "projects"
                ) then 1
                else 0
              end
              and (
                "apiKeys"."projectIds" is null
                or "pullRequests"."projectId" in (
                  select
                    value
                  from
                    json_each("apiKeys"."projectIds")
                )
              )
          )
          else case
            when ("apiKeys"."organizationId", :resourceId) in (
              select
                "projects"."organizationId",
                "projects"."id"
              from
                "projects"
            ) then 1
            else 0
          end
          and (
            "apiKeys"."projectIds" is null
            or :resourceId in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        end
      )
      and (
        case
          when "own"."position" is not null then true
          else (
            select
              count(*)
            from
              "pins" "counted"
            where
              (
                "counted"."organizationId" = "apiKeys"."organizationId"
                and "counted"."userId" = "apiKeys"."userId"
                and case "counted"."resourceType"
                  when 'session' then exists (
                    select
                      1
                    from
                      "sessions"
                    where
                      "sessions"."organizationId" = "counted"."organizationId"
                      and "sessions"."id" = "counted"."resourceId"
                      and case
                        when ("sessions"."organizationId", "sessions"."projectId") in (
                          select
                            "projects"."organizationId",
                            "projects"."id"
                          from
                            "projects"
                        ) then 1
                        else 0
                      end
                      and true
                  )
                  when 'pull_request' then exists (
                    select
                      1
                    from
                      "pullRequests"
                    where
                      "pullRequests"."organizationId" = "counted"."organizationId"
                      and "pullRequests"."id" = "counted"."resourceId"
                      and case
                        when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
                          select
                            "projects"."organizationId",
                            "projects"."id"
                          from
                            "projects"
                        ) then 1
                        else 0
                      end
                      and true
                  )
                  else case
                    when ("counted"."organizationId", "counted"."resourceId") in (
                      select
                        "projects"."organizationId",
                        "projects"."id"
                      from
                        "projects"
                    ) then 1
                    else 0
                  end
                  and true
                end
              )
          ) < :pinLimit
        end
      )
    )
    and "own"."position" is not null
  );

-- selectPins
select
  "own"."resourceType",
  "own"."resourceId",
  coalesce("sessions"."name", "pullRequests"."name", "projects"."name") as "name",
  "own"."createdAt",
  "own"."position",
  coalesce("sessions"."projectId", "pullRequests"."projectId") as "projectId",
  "projects"."archivedAt"
from
  "apiKeys"
  inner join "pins" "own" on (
    "own"."organizationId" = "apiKeys"."organizationId"
    and "own"."userId" = "apiKeys"."userId"
  )
  left join "sessions" on (
    "sessions"."organizationId" = "own"."organizationId"
    and "sessions"."id" = case "own"."resourceType"
      when 'session' then "own"."resourceId"
    end
  )
  left join "pullRequests" on (
    "pullRequests"."organizationId" = "own"."organizationId"
    and "pullRequests"."id" = case "own"."resourceType"
      when 'pull_request' then "own"."resourceId"
    end
  )
  left join "projects" on (
    "projects"."organizationId" = "own"."organizationId"
    and "projects"."id" = case "own"."resourceType"
      when 'project' then "own"."resourceId"
    end
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
    and (
      case
        when (
          "own"."organizationId",
          coalesce(coalesce("sessions"."projectId", "pullRequests"."projectId"), "projects"."id")
        ) in (
          select
            "projects"."organizationId",
            "projects"."id"
          from
            "projects"
        ) then 1
        else 0
      end
      and (
        "apiKeys"."projectIds" is null
        or coalesce(coalesce("sessions"."projectId", "pullRequests"."projectId"), "projects"."id") in (
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
      )
    )
  );
