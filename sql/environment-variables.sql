-- src/resources/environment-variables/project-environments.ts

-- selectIsHere
select
  "id"
from
  "organizations"
where
  (
    "organizations"."id" = + :organizationId
    and not exists (
      select
        "kind"
      from
        "halts"
      where
        (
          "halts"."organizationId" = "organizations"."id"
          and "halts"."kind" in ('arriving', 'left')
        )
    )
  );

-- selectSealed
select
  "environmentVariables"."key",
  "environmentVariables"."sealedValue"
from
  "projects"
  left join "environmentVariables" on (
    "environmentVariables"."organizationId" = "projects"."organizationId"
    and "environmentVariables"."projectId" = "projects"."id"
  )
where
  (
    "projects"."organizationId" = + :organizationId
    and "projects"."id" = + :projectId
  )
order by
  "environmentVariables"."key" asc;

-- src/resources/environment-variables/statements.ts

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
  "projects"."id" is not null as "projectExists",
  "environmentVariables"."key" is not null as "variableExists",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "projectIsAccessible",
  "projects"."archivedAt" is null as "projectIsActive"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :projectId
  )
  left join "environmentVariables" on (
    "environmentVariables"."organizationId" = "apiKeys"."organizationId"
    and "environmentVariables"."projectId" = + :projectId
    and "environmentVariables"."key" = + :key
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- deleteVariable
delete from "environmentVariables"
where
  (
    "environmentVariables"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "projects" on (
          "projects"."organizationId" = "apiKeys"."organizationId"
          and "projects"."id" = + :projectId
        )
        left join "environmentVariables" on (
          "environmentVariables"."organizationId" = "apiKeys"."organizationId"
          and "environmentVariables"."projectId" = + :projectId
          and "environmentVariables"."key" = + :key
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
          and ("projects"."id" is not null)
          and ("environmentVariables"."key" is not null)
          and (
            (
              "apiKeys"."projectIds" is null
              or "projects"."id" in (
                select
                  value
                from
                  json_each("apiKeys"."projectIds")
              )
            )
          )
          and ("projects"."archivedAt" is null)
        )
    )
    and "environmentVariables"."projectId" = + :projectId
    and "environmentVariables"."key" = + :key
  )
returning
  "key";

-- deleteVariable.recording
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
  'environment-variable.deleted' as "type",
  :key as "resourceId",
  null as "parentId",
  :key as "resourceName",
  :projectId as "projectId",
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

-- leasable.check
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
  "projects"."id" is not null as "projectExists",
  (
    select
      group_concat(value)
    from
      (
        select
          value
        from
          json_each(:keys)
        where
          not exists (
            select
              1
            from
              "environmentVariables"
            where
              (
                (
                  "environmentVariables"."organizationId" = "projects"."organizationId"
                  and "environmentVariables"."projectId" = "projects"."id"
                )
                and "environmentVariables"."key" = value
              )
          )
        limit
          + 4
      )
  ) as "keysExist",
  "apiKeys"."projectIds" is not null as "keyIsRestricted",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "projectIsAccessible"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :projectId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- putVariables
insert into
  "environmentVariables" ("organizationId", "projectId", "key", "createdAt", "updatedAt", "sealedValue")
select
  "projects"."organizationId" as "organizationId",
  "projects"."id" as "projectId",
  "chunk"."column1" as "key",
  :now as "createdAt",
  :now as "updatedAt",
  "chunk"."column2" as "sealedValue"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :projectId
  )
  left join "variableRequests" on (
    "variableRequests"."organizationId" = "projects"."organizationId"
    and "variableRequests"."projectId" = "projects"."id"
    and "variableRequests"."idempotencyKey" = + :idempotencyKey
  )
  inner join (
    values
      (:chunk .0.key, :chunk .0.sealedValue),
      (:chunk .1.key, :chunk .1.sealedValue),
      (:chunk .2.key, :chunk .2.sealedValue),
      (:chunk .3.key, :chunk .3.sealedValue),
      (:chunk .4.key, :chunk .4.sealedValue),
      (:chunk .5.key, :chunk .5.sealedValue),
      (:chunk .6.key, :chunk .6.sealedValue),
      (:chunk .7.key, :chunk .7.sealedValue),
      (:chunk .8.key, :chunk .8.sealedValue),
      (:chunk .9.key, :chunk .9.sealedValue),
      (:chunk .10.key, :chunk .10.sealedValue),
      (:chunk .11.key, :chunk .11.sealedValue),
      (:chunk .12.key, :chunk .12.sealedValue),
      (:chunk .13.key, :chunk .13.sealedValue),
      (:chunk .14.key, :chunk .14.sealedValue),
      (:chunk .15.key, :chunk .15.sealedValue),
      (:chunk .16.key, :chunk .16.sealedValue),
      (:chunk .17.key, :chunk .17.sealedValue),
      (:chunk .18.key, :chunk .18.sealedValue),
      (:chunk .19.key, :chunk .19.sealedValue),
      (:chunk .20.key, :chunk .20.sealedValue),
      (:chunk .21.key, :chunk .21.sealedValue),
      (:chunk .22.key, :chunk .22.sealedValue),
      (:chunk .23.key, :chunk .23.sealedValue),
      (:chunk .24.key, :chunk .24.sealedValue)
  ) as "chunk" on "chunk"."column1" is not null
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
      and ("projects"."id" is not null)
      and (
        (
          "apiKeys"."projectIds" is null
          or "projects"."id" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and (
        (
          "variableRequests"."idempotencyKey" is null
          or (
            "variableRequests"."createdAt" = + :now
            and "variableRequests"."idempotencyFingerprint" in (
              select
                value
              from
                json_each(:fingerprints)
            )
          )
        )
      )
      and ("projects"."archivedAt" is null)
      and (
        exists (
          select
            1
          from
            "environmentVariables"
          where
            (
              (
                "environmentVariables"."organizationId" = "projects"."organizationId"
                and "environmentVariables"."projectId" = "projects"."id"
              )
              and "environmentVariables"."key" = + :keys ->> 0
              and instr("environmentVariables"."sealedValue", :firstSeal) = 1
            )
        )
        or (
          select
            case
              when "organizationUsage"."variables" + (
                json_array_length(:keys) - (
                  select
                    count(*)
                  from
                    "environmentVariables"
                  where
                    (
                      (
                        "environmentVariables"."organizationId" = "projects"."organizationId"
                        and "environmentVariables"."projectId" = "projects"."id"
                      )
                      and "environmentVariables"."key" in (
                        select
                          value
                        from
                          json_each(:keys)
                      )
                    )
                )
              ) > max("organizationUsage"."variables", :quota.variables) then 'variables'
              when "organizationUsage"."variableBytes" + (
                :sealedLength - (
                  select
                    coalesce(sum(octet_length ("sealedValue")), 0)
                  from
                    "environmentVariables"
                  where
                    (
                      (
                        "environmentVariables"."organizationId" = "projects"."organizationId"
                        and "environmentVariables"."projectId" = "projects"."id"
                      )
                      and "environmentVariables"."key" in (
                        select
                          value
                        from
                          json_each(:keys)
                      )
                    )
                )
              ) > max("organizationUsage"."variableBytes", :quota.variableBytes) then 'variableBytes'
            end
          from
            "organizationUsage"
          where
            "organizationUsage"."organizationId" = "apiKeys"."organizationId"
        ) is null
      )
      and (
        (
          exists (
            select
              1
            from
              "environmentVariables"
            where
              (
                (
                  "environmentVariables"."organizationId" = "projects"."organizationId"
                  and "environmentVariables"."projectId" = "projects"."id"
                )
                and "environmentVariables"."key" = + :keys ->> 0
                and instr("environmentVariables"."sealedValue", :firstSeal) = 1
              )
          )
          or (
            select
              count(*) + json_array_length(:keys) <= :variableLimit
              and coalesce(sum(length("sealedValue")), 0) + :sealedLength <= 16841216
            from
              "environmentVariables"
            where
              (
                (
                  "environmentVariables"."organizationId" = "projects"."organizationId"
                  and "environmentVariables"."projectId" = "projects"."id"
                )
                and not "environmentVariables"."key" in (
                  select
                    value
                  from
                    json_each(:keys)
                )
              )
          )
        )
      )
    )
    and "apiKeys"."organizationId" = + :sealedFor
  )
on conflict (
  "environmentVariables"."organizationId",
  "environmentVariables"."projectId",
  "environmentVariables"."key"
) do update
set
  "updatedAt" = excluded."updatedAt",
  "sealedValue" = excluded."sealedValue"
returning
  "key",
  "createdAt",
  "updatedAt";

-- putVariables.recording
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
  iif(json_array_length(:keys) = 1, 'environment-variable.set', 'environment-variables.set') as "type",
  iif(json_array_length(:keys) = 1, :keys ->> 0, :projectId) as "resourceId",
  null as "parentId",
  (
    select
      substr(names, 1, 1000) || iif(length(names) > 1000, '…', '')
    from
      (
        select
          group_concat(key, ', ') as names
        from
          (
            select
              value as key
            from
              json_each(:keys)
            order by
              value
          )
      )
  ) as "resourceName",
  :projectId as "projectId",
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

-- readable.check
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
  "projects"."id" is not null as "projectExists",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "projectIsAccessible"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :projectId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- recordLease
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
  'environment-variables.leased' as "type",
  "projects"."id" as "resourceId",
  null as "parentId",
  (
    select
      substr(names, 1, 1000) || iif(length(names) > 1000, '…', '')
    from
      (
        select
          group_concat(key, ', ') as names
        from
          (
            select
              "key"
            from
              "environmentVariables"
            where
              (
                (
                  "environmentVariables"."organizationId" = "projects"."organizationId"
                  and "environmentVariables"."projectId" = "projects"."id"
                )
                and (
                  :keys is null
                  or "environmentVariables"."key" in (
                    select
                      value
                    from
                      json_each(:keys)
                  )
                )
              )
            order by
              "environmentVariables"."key" asc
          )
      )
  ) as "resourceName",
  "projects"."id" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :projectId
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
      and ("projects"."id" is not null)
      and (
        select
          group_concat(value)
        from
          (
            select
              value
            from
              json_each(:keys)
            where
              not exists (
                select
                  1
                from
                  "environmentVariables"
                where
                  (
                    (
                      "environmentVariables"."organizationId" = "projects"."organizationId"
                      and "environmentVariables"."projectId" = "projects"."id"
                    )
                    and "environmentVariables"."key" = value
                  )
              )
            limit
              + 4
          )
      ) is null
      and ("apiKeys"."projectIds" is not null)
      and (
        (
          "apiKeys"."projectIds" is null
          or "projects"."id" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
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

-- recordRequest
insert into
  "variableRequests" ("organizationId", "projectId", "idempotencyKey", "idempotencyFingerprint", "createdAt")
select
  "projects"."organizationId" as "organizationId",
  "projects"."id" as "projectId",
  :idempotencyKey as "idempotencyKey",
  :fingerprints ->> 0 as "idempotencyFingerprint",
  :now as "createdAt"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :projectId
  )
  left join "variableRequests" on (
    "variableRequests"."organizationId" = "projects"."organizationId"
    and "variableRequests"."projectId" = "projects"."id"
    and "variableRequests"."idempotencyKey" = + :idempotencyKey
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
      and ("projects"."id" is not null)
      and (
        (
          "apiKeys"."projectIds" is null
          or "projects"."id" in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and (
        (
          "variableRequests"."idempotencyKey" is null
          or (
            "variableRequests"."createdAt" = + :now
            and "variableRequests"."idempotencyFingerprint" in (
              select
                value
              from
                json_each(:fingerprints)
            )
          )
        )
      )
      and ("projects"."archivedAt" is null)
      and (
        exists (
          select
            1
          from
            "environmentVariables"
          where
            (
              (
                "environmentVariables"."organizationId" = "projects"."organizationId"
                and "environmentVariables"."projectId" = "projects"."id"
              )
              and "environmentVariables"."key" = + :keys ->> 0
              and instr("environmentVariables"."sealedValue", :firstSeal) = 1
            )
        )
        or (
          select
            case
              when "organizationUsage"."variables" + (
                json_array_length(:keys) - (
                  select
                    count(*)
                  from
                    "environmentVariables"
                  where
                    (
                      (
                        "environmentVariables"."organizationId" = "projects"."organizationId"
                        and "environmentVariables"."projectId" = "projects"."id"
                      )
                      and "environmentVariables"."key" in (
                        select
                          value
                        from
                          json_each(:keys)
                      )
                    )
                )
              ) > max("organizationUsage"."variables", :quota.variables) then 'variables'
              when "organizationUsage"."variableBytes" + (
                :sealedLength - (
                  select
                    coalesce(sum(octet_length ("sealedValue")), 0)
                  from
                    "environmentVariables"
                  where
                    (
                      (
                        "environmentVariables"."organizationId" = "projects"."organizationId"
                        and "environmentVariables"."projectId" = "projects"."id"
                      )
                      and "environmentVariables"."key" in (
                        select
                          value
                        from
                          json_each(:keys)
                      )
                    )
                )
              ) > max("organizationUsage"."variableBytes", :quota.variableBytes) then 'variableBytes'
            end
          from
            "organizationUsage"
          where
            "organizationUsage"."organizationId" = "apiKeys"."organizationId"
        ) is null
      )
      and (
        (
          exists (
            select
              1
            from
              "environmentVariables"
            where
              (
                (
                  "environmentVariables"."organizationId" = "projects"."organizationId"
                  and "environmentVariables"."projectId" = "projects"."id"
                )
                and "environmentVariables"."key" = + :keys ->> 0
                and instr("environmentVariables"."sealedValue", :firstSeal) = 1
              )
          )
          or (
            select
              count(*) + json_array_length(:keys) <= :variableLimit
              and coalesce(sum(length("sealedValue")), 0) + :sealedLength <= 16841216
            from
              "environmentVariables"
            where
              (
                (
                  "environmentVariables"."organizationId" = "projects"."organizationId"
                  and "environmentVariables"."projectId" = "projects"."id"
                )
                and not "environmentVariables"."key" in (
                  select
                    value
                  from
                    json_each(:keys)
                )
              )
          )
        )
      )
    )
    and (
      "apiKeys"."organizationId" = + :sealedFor
      and :idempotencyKey is not null
    )
  )
on conflict do nothing;

-- selectLeased
select
  "key",
  "sealedValue"
from
  "environmentVariables"
where
  (
    "environmentVariables"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "projects" on (
          "projects"."organizationId" = "apiKeys"."organizationId"
          and "projects"."id" = + :projectId
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
          and ("projects"."id" is not null)
          and (
            select
              group_concat(value)
            from
              (
                select
                  value
                from
                  json_each(:keys)
                where
                  not exists (
                    select
                      1
                    from
                      "environmentVariables"
                    where
                      (
                        (
                          "environmentVariables"."organizationId" = "projects"."organizationId"
                          and "environmentVariables"."projectId" = "projects"."id"
                        )
                        and "environmentVariables"."key" = value
                      )
                  )
                limit
                  + 4
              )
          ) is null
          and ("apiKeys"."projectIds" is not null)
          and (
            (
              "apiKeys"."projectIds" is null
              or "projects"."id" in (
                select
                  value
                from
                  json_each("apiKeys"."projectIds")
              )
            )
          )
        )
    )
    and "environmentVariables"."projectId" = + :projectId
    and (
      :keys is null
      or "environmentVariables"."key" in (
        select
          value
        from
          json_each(:keys)
      )
    )
  )
order by
  "environmentVariables"."key" asc;

-- selectRepeated
select
  "environmentVariables"."key",
  "environmentVariables"."createdAt",
  "environmentVariables"."updatedAt"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :projectId
  )
  inner join "variableRequests" on (
    (
      "variableRequests"."organizationId" = "projects"."organizationId"
      and "variableRequests"."projectId" = "projects"."id"
      and "variableRequests"."idempotencyKey" = + :idempotencyKey
    )
    and "variableRequests"."idempotencyFingerprint" in (
      select
        value
      from
        json_each(:fingerprints)
    )
  )
  inner join "environmentVariables" on (
    (
      "environmentVariables"."organizationId" = "projects"."organizationId"
      and "environmentVariables"."projectId" = "projects"."id"
    )
    and "environmentVariables"."key" in (
      select
        value
      from
        json_each(:keys)
    )
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
    and ("projects"."id" is not null)
    and (
      (
        "apiKeys"."projectIds" is null
        or "projects"."id" in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
  )
order by
  "environmentVariables"."key" asc;

-- selectVariables
select
  "key",
  "createdAt",
  "updatedAt"
from
  "environmentVariables"
where
  (
    "environmentVariables"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "projects" on (
          "projects"."organizationId" = "apiKeys"."organizationId"
          and "projects"."id" = + :projectId
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
          and ("projects"."id" is not null)
          and (
            (
              "apiKeys"."projectIds" is null
              or "projects"."id" in (
                select
                  value
                from
                  json_each("apiKeys"."projectIds")
              )
            )
          )
        )
    )
    and "environmentVariables"."projectId" = + :projectId
    and "environmentVariables"."key" > :cursor
  )
order by
  "environmentVariables"."key" asc
limit
  + :rowLimit;

-- settable.check
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
  "projects"."id" is not null as "projectExists",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "projectIsAccessible",
  (
    "variableRequests"."idempotencyKey" is null
    or (
      "variableRequests"."createdAt" = + :now
      and "variableRequests"."idempotencyFingerprint" in (
        select
          value
        from
          json_each(:fingerprints)
      )
    )
  ) as "isFirstRequest",
  "projects"."archivedAt" is null as "projectIsActive",
  (
    select
      case
        when "organizationUsage"."variables" + (
          json_array_length(:keys) - (
            select
              count(*)
            from
              "environmentVariables"
            where
              (
                (
                  "environmentVariables"."organizationId" = "projects"."organizationId"
                  and "environmentVariables"."projectId" = "projects"."id"
                )
                and "environmentVariables"."key" in (
                  select
                    value
                  from
                    json_each(:keys)
                )
              )
          )
        ) > max("organizationUsage"."variables", :quota.variables) then 'variables'
        when "organizationUsage"."variableBytes" + (
          :sealedLength - (
            select
              coalesce(sum(octet_length ("sealedValue")), 0)
            from
              "environmentVariables"
            where
              (
                (
                  "environmentVariables"."organizationId" = "projects"."organizationId"
                  and "environmentVariables"."projectId" = "projects"."id"
                )
                and "environmentVariables"."key" in (
                  select
                    value
                  from
                    json_each(:keys)
                )
              )
          )
        ) > max("organizationUsage"."variableBytes", :quota.variableBytes) then 'variableBytes'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  not exists (
    select
      1
    from
      "environmentVariables"
    where
      (
        (
          "environmentVariables"."organizationId" = "projects"."organizationId"
          and "environmentVariables"."projectId" = "projects"."id"
        )
        and "environmentVariables"."key" = + :keys ->> 0
      )
  ) as "isNew",
  coalesce(
    "variableRequests"."idempotencyFingerprint" in (
      select
        value
      from
        json_each(:fingerprints)
    ),
    false
  ) as "isRepeated"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :projectId
  )
  left join "variableRequests" on (
    "variableRequests"."organizationId" = "projects"."organizationId"
    and "variableRequests"."projectId" = "projects"."id"
    and "variableRequests"."idempotencyKey" = + :idempotencyKey
  )
where
  "apiKeys"."hash" = + :caller.keyHash;
