-- src/resources/sign-in-rules/statements.ts

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
  "apiKeys"."projectIds" is null as "isUnrestricted",
  "apiKeys"."rotatedAt" is null as "callerIsUnrotated",
  (
    not true
    or not exists (
      select
        1
      from
        json_each(:roleScopes -> :role)
      where
        coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
    )
  ) as "callerHasScopes",
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
  (
    select
      count(*)
    from
      "signInRules"
    where
      "signInRules"."organizationId" = "apiKeys"."organizationId"
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
  "signInRules"."id" is not null as "ruleExists",
  "apiKeys"."projectIds" is null as "isUnrestricted",
  "apiKeys"."rotatedAt" is null as "callerIsUnrotated",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "signInRules"."revision" is not null
  )
  or instr(:ifMatch, '"' || "signInRules"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "signInRules" on (
    "signInRules"."organizationId" = "apiKeys"."organizationId"
    and "signInRules"."id" = + :signInRuleId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- deleteRule
delete from "signInRules"
where
  (
    "signInRules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "signInRules" on (
          "signInRules"."organizationId" = "apiKeys"."organizationId"
          and "signInRules"."id" = + :signInRuleId
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
          and ("signInRules"."id" is not null)
          and ("apiKeys"."projectIds" is null)
          and ("apiKeys"."rotatedAt" is null)
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "signInRules"."revision" is not null
            )
            or instr(:ifMatch, '"' || "signInRules"."revision" || '"') > 0
          )
        )
    )
    and "signInRules"."id" = + :signInRuleId
  )
returning
  "id";

-- deleteRule.recording
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
  'sign-in-rule.deleted' as "type",
  "signInRules"."id" as "resourceId",
  null as "parentId",
  "signInRules"."claim" || '=' || "signInRules"."value" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "signInRules" on (
    "signInRules"."organizationId" = "apiKeys"."organizationId"
    and "signInRules"."id" = + :signInRuleId
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
      and ("signInRules"."id" is not null)
      and ("apiKeys"."projectIds" is null)
      and ("apiKeys"."rotatedAt" is null)
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "signInRules"."revision" is not null
        )
        or instr(:ifMatch, '"' || "signInRules"."revision" || '"') > 0
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

-- endOfDeleted.recordEndedKeys
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
  case "ended"."kind"
    when 'session' then 'api-key.session-ended'
    when 'grant' then 'api-key.app-disconnected'
    else 'api-key.revoked'
  end as "type",
  "ended"."id" as "resourceId",
  null as "parentId",
  "ended"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "signInRules" on (
    "signInRules"."organizationId" = "apiKeys"."organizationId"
    and "signInRules"."id" = + :signInRuleId
  )
  inner join "apiKeys" "ended" on (
    "ended"."organizationId" = "apiKeys"."organizationId"
    and "ended"."identityId" in (
      select
        "id"
      from
        "identities" "person"
      where
        (
          "person"."organizationId" = "apiKeys"."organizationId"
          and instr("person"."ruleIds", '"' || :signInRuleId || '"') > 0
        )
    )
    and "ended"."identityId" is not null
    and "ended"."revokedAt" is null
    and (
      "ended"."expiresAt" is null
      or "ended"."expiresAt" > :now
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
      and ("signInRules"."id" is not null)
      and ("apiKeys"."projectIds" is null)
      and ("apiKeys"."rotatedAt" is null)
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "signInRules"."revision" is not null
        )
        or instr(:ifMatch, '"' || "signInRules"."revision" || '"') > 0
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

-- endOfDeleted.endKeys
update "apiKeys"
set
  "revokedAt" = + :now
where
  "apiKeys"."hash" in (
    select
      "ended"."hash"
    from
      "apiKeys"
      inner join "apiKeys" "ended" on (
        "ended"."organizationId" = "apiKeys"."organizationId"
        and "ended"."identityId" in (
          select
            "id"
          from
            "identities" "person"
          where
            (
              "person"."organizationId" = "apiKeys"."organizationId"
              and instr("person"."ruleIds", '"' || :signInRuleId || '"') > 0
            )
        )
        and "ended"."identityId" is not null
        and "ended"."revokedAt" is null
        and (
          "ended"."expiresAt" is null
          or "ended"."expiresAt" > :now
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
        and changes() > 0
      )
  );

-- endOfUpdated.recordEndedKeys
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
  case "ended"."kind"
    when 'session' then 'api-key.session-ended'
    when 'grant' then 'api-key.app-disconnected'
    else 'api-key.revoked'
  end as "type",
  "ended"."id" as "resourceId",
  null as "parentId",
  "ended"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "signInRules" on (
    "signInRules"."organizationId" = "apiKeys"."organizationId"
    and "signInRules"."id" = + :signInRuleId
  )
  inner join "apiKeys" "ended" on (
    "ended"."organizationId" = "apiKeys"."organizationId"
    and "ended"."identityId" in (
      select
        "id"
      from
        "identities" "person"
      where
        (
          "person"."organizationId" = "apiKeys"."organizationId"
          and instr("person"."ruleIds", '"' || :signInRuleId || '"') > 0
        )
    )
    and "ended"."identityId" is not null
    and "ended"."revokedAt" is null
    and (
      "ended"."expiresAt" is null
      or "ended"."expiresAt" > :now
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
      and ("signInRules"."id" is not null)
      and ("apiKeys"."projectIds" is null)
      and ("apiKeys"."rotatedAt" is null)
      and (
        (
          not true
          or not exists (
            select
              1
            from
              json_each(
                :roleScopes -> (
                  case
                    when json_type(:changes, '$.role') is null then "signInRules"."role"
                    else :changes ->> '$.role'
                  end
                )
              )
            where
              coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
          )
        )
      )
      and (
        not exists (
          select
            1
          from
            json_each(:changes ->> 'projectIds')
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
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "signInRules"."revision" is not null
        )
        or instr(:ifMatch, '"' || "signInRules"."revision" || '"') > 0
      )
    )
    and (
      (
        "signInRules"."issuer" is not case
          when json_type(:changes, '$.issuer') is null then "signInRules"."issuer"
          else :changes ->> '$.issuer'
        end
        or "signInRules"."claim" is not case
          when json_type(:changes, '$.claim') is null then "signInRules"."claim"
          else :changes ->> '$.claim'
        end
        or "signInRules"."value" is not case
          when json_type(:changes, '$.value') is null then "signInRules"."value"
          else :changes ->> '$.value'
        end
        or "signInRules"."role" is not case
          when json_type(:changes, '$.role') is null then "signInRules"."role"
          else :changes ->> '$.role'
        end
        or "signInRules"."projectIds" is not case
          when json_type(:changes, '$.projectIds') is null then "signInRules"."projectIds"
          else :changes ->> '$.projectIds'
        end
        or "signInRules"."createdByKeyId" is not "apiKeys"."id"
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
    )
  );

-- endOfUpdated.endKeys
update "apiKeys"
set
  "revokedAt" = + :now
where
  "apiKeys"."hash" in (
    select
      "ended"."hash"
    from
      "apiKeys"
      inner join "apiKeys" "ended" on (
        "ended"."organizationId" = "apiKeys"."organizationId"
        and "ended"."identityId" in (
          select
            "id"
          from
            "identities" "person"
          where
            (
              "person"."organizationId" = "apiKeys"."organizationId"
              and instr("person"."ruleIds", '"' || :signInRuleId || '"') > 0
            )
        )
        and "ended"."identityId" is not null
        and "ended"."revokedAt" is null
        and (
          "ended"."expiresAt" is null
          or "ended"."expiresAt" > :now
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
        and changes() > 0
      )
  );

-- insertRule
insert into
  "signInRules" (
    "organizationId",
    "id",
    "issuer",
    "claim",
    "value",
    "role",
    "projectIds",
    "createdByKeyId",
    "createdAt",
    "updatedAt",
    "revision"
  )
select
  "organizationId" as "organizationId",
  :id as "id",
  :issuer as "issuer",
  :claim as "claim",
  :value as "value",
  :role as "role",
  :projectIds as "projectIds",
  "id" as "createdByKeyId",
  :now as "createdAt",
  :now as "updatedAt",
  lower(hex(randomblob(8))) as "revision"
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
    and ("apiKeys"."rotatedAt" is null)
    and (
      (
        not true
        or not exists (
          select
            1
          from
            json_each(:roleScopes -> :role)
          where
            coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
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
    and (
      (
        select
          count(*)
        from
          "signInRules"
        where
          "signInRules"."organizationId" = "apiKeys"."organizationId"
      ) < 100
    )
  )
returning
  "id",
  "issuer",
  "claim",
  "value",
  "role",
  "projectIds",
  "createdByKeyId",
  "createdAt",
  "updatedAt",
  "revision";

-- insertRule.recording
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
  'sign-in-rule.created' as "type",
  :id as "resourceId",
  null as "parentId",
  :claim || '=' || :value as "resourceName",
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

-- listable.check
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
  "signInRules"."id" is not null as "ruleExists",
  "apiKeys"."projectIds" is null as "isUnrestricted"
from
  "apiKeys"
  left join "signInRules" on (
    "signInRules"."organizationId" = "apiKeys"."organizationId"
    and "signInRules"."id" = + :signInRuleId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- selectPreview
select
  "admission"."role" as "role",
  "admission"."projectIds" as "projectIds",
  "admission"."ruleIds" as "ruleIds"
from
  "apiKeys"
  inner join (
    with
      "matching" as (
        select
          "signInRules"."id" as "id",
          "signInRules"."role" as "role",
          "signInRules"."projectIds" as "projectIds",
          case "signInRules"."role"
            when 'viewer' then 0
            when 'member' then 1
            when 'admin' then 2
          end as "rank"
        from
          "signInRules"
        where
          "signInRules"."organizationId" = (
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
          and "signInRules"."issuer" = + :issuer
          and (
            "signInRules"."claim",
            case "signInRules"."claim"
              when 'email' then lower("signInRules"."value")
              else "signInRules"."value"
            end
          ) in (
            select
              "sent".value ->> 0,
              case "sent".value ->> 0
                when 'email' then lower("sent".value ->> 1)
                else "sent".value ->> 1
              end
            from
              json_each(:claims) as "sent"
          )
      ),
      "deciding" as (
        select
          *
        from
          "matching"
        where
          "rank" = (
            select
              max("rank")
            from
              "matching"
          )
      )
    select
      case
        when "fits" then "role"
      end as "role",
      case
        when "isUnlimited" is not 1 then (
          select
            json_group_array("projectId")
          from
            (
              select distinct
                "listed".value as "projectId"
              from
                "deciding"
                cross join json_each("deciding"."projectIds") as "listed"
              where
                "fits"
              order by
                1
            )
        )
      end as "projectIds",
      (
        select
          json_group_array("id")
        from
          (
            select
              "id"
            from
              "deciding"
            where
              "fits"
            order by
              "id"
          )
      ) as "ruleIds"
    from
      (
        select
          max("role") as "role",
          max("projectIds" is null) as "isUnlimited",
          max("projectIds" is null) = 1
          or sum(octet_length ("projectIds")) <= 65536 as "fits"
        from
          "deciding"
      )
  ) as "admission" on true
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
  );

-- selectRule
select
  "signInRules"."id",
  "signInRules"."issuer",
  "signInRules"."claim",
  "signInRules"."value",
  "signInRules"."role",
  "signInRules"."projectIds",
  "signInRules"."createdByKeyId",
  "signInRules"."createdAt",
  "signInRules"."updatedAt",
  "signInRules"."revision"
from
  "apiKeys"
  left join "signInRules" on (
    "signInRules"."organizationId" = "apiKeys"."organizationId"
    and "signInRules"."id" = + :signInRuleId
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
    and ("signInRules"."id" is not null)
    and ("apiKeys"."projectIds" is null)
  );

-- selectRules
select
  "signInRules"."id",
  "signInRules"."issuer",
  "signInRules"."claim",
  "signInRules"."value",
  "signInRules"."role",
  "signInRules"."projectIds",
  "signInRules"."createdByKeyId",
  "signInRules"."createdAt",
  "signInRules"."updatedAt"
from
  "apiKeys"
  inner join "signInRules" on "signInRules"."organizationId" = "apiKeys"."organizationId"
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
order by
  "signInRules"."id" asc;

-- updatable.check
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
  "signInRules"."id" is not null as "ruleExists",
  "apiKeys"."projectIds" is null as "isUnrestricted",
  "apiKeys"."rotatedAt" is null as "callerIsUnrotated",
  (
    not true
    or not exists (
      select
        1
      from
        json_each(
          :roleScopes -> (
            case
              when json_type(:changes, '$.role') is null then "signInRules"."role"
              else :changes ->> '$.role'
            end
          )
        )
      where
        coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
    )
  ) as "callerHasScopes",
  not exists (
    select
      1
    from
      json_each(:changes ->> 'projectIds')
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
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "signInRules"."revision" is not null
  )
  or instr(:ifMatch, '"' || "signInRules"."revision" || '"') > 0 as "matchesRevision",
  case
    when not (
      "signInRules"."issuer" is not case
        when json_type(:changes, '$.issuer') is null then "signInRules"."issuer"
        else :changes ->> '$.issuer'
      end
      or "signInRules"."claim" is not case
        when json_type(:changes, '$.claim') is null then "signInRules"."claim"
        else :changes ->> '$.claim'
      end
      or "signInRules"."value" is not case
        when json_type(:changes, '$.value') is null then "signInRules"."value"
        else :changes ->> '$.value'
      end
      or "signInRules"."role" is not case
        when json_type(:changes, '$.role') is null then "signInRules"."role"
        else :changes ->> '$.role'
      end
      or "signInRules"."projectIds" is not case
        when json_type(:changes, '$.projectIds') is null then "signInRules"."projectIds"
        else :changes ->> '$.projectIds'
      end
      or "signInRules"."createdByKeyId" is not "apiKeys"."id"
    ) then json_object(
      'id',
      "signInRules"."id",
      'issuer',
      "signInRules"."issuer",
      'claim',
      "signInRules"."claim",
      'value',
      "signInRules"."value",
      'role',
      "signInRules"."role",
      'projectIds',
      "signInRules"."projectIds",
      'createdByKeyId',
      "signInRules"."createdByKeyId",
      'createdAt',
      "signInRules"."createdAt",
      'updatedAt',
      "signInRules"."updatedAt",
      'revision',
      "signInRules"."revision"
    )
  end as "unchanged"
from
  "apiKeys"
  left join "signInRules" on (
    "signInRules"."organizationId" = "apiKeys"."organizationId"
    and "signInRules"."id" = + :signInRuleId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- updateRule
update "signInRules"
set
  "issuer" = case
    when json_type(:changes, '$.issuer') is null then "signInRules"."issuer"
    else :changes ->> '$.issuer'
  end,
  "claim" = case
    when json_type(:changes, '$.claim') is null then "signInRules"."claim"
    else :changes ->> '$.claim'
  end,
  "value" = case
    when json_type(:changes, '$.value') is null then "signInRules"."value"
    else :changes ->> '$.value'
  end,
  "role" = case
    when json_type(:changes, '$.role') is null then "signInRules"."role"
    else :changes ->> '$.role'
  end,
  "projectIds" = case
    when json_type(:changes, '$.projectIds') is null then "signInRules"."projectIds"
    else :changes ->> '$.projectIds'
  end,
  "createdByKeyId" = (
    select
      "apiKeys"."id"
    from
      "apiKeys"
      left join "signInRules" on (
        "signInRules"."organizationId" = "apiKeys"."organizationId"
        and "signInRules"."id" = + :signInRuleId
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
        and ("signInRules"."id" is not null)
        and ("apiKeys"."projectIds" is null)
        and ("apiKeys"."rotatedAt" is null)
        and (
          (
            not true
            or not exists (
              select
                1
              from
                json_each(
                  :roleScopes -> (
                    case
                      when json_type(:changes, '$.role') is null then "signInRules"."role"
                      else :changes ->> '$.role'
                    end
                  )
                )
              where
                coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
            )
          )
        )
        and (
          not exists (
            select
              1
            from
              json_each(:changes ->> 'projectIds')
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
        and (
          :ifMatch is null
          or (
            :ifMatch = '*'
            and "signInRules"."revision" is not null
          )
          or instr(:ifMatch, '"' || "signInRules"."revision" || '"') > 0
        )
      )
  ),
  "updatedAt" = + :now,
  "revision" = lower(hex(randomblob(8)))
where
  (
    "signInRules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "signInRules" on (
          "signInRules"."organizationId" = "apiKeys"."organizationId"
          and "signInRules"."id" = + :signInRuleId
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
            and ("signInRules"."id" is not null)
            and ("apiKeys"."projectIds" is null)
            and ("apiKeys"."rotatedAt" is null)
            and (
              (
                not true
                or not exists (
                  select
                    1
                  from
                    json_each(
                      :roleScopes -> (
                        case
                          when json_type(:changes, '$.role') is null then "signInRules"."role"
                          else :changes ->> '$.role'
                        end
                      )
                    )
                  where
                    coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
                )
              )
            )
            and (
              not exists (
                select
                  1
                from
                  json_each(:changes ->> 'projectIds')
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
            and (
              :ifMatch is null
              or (
                :ifMatch = '*'
                and "signInRules"."revision" is not null
              )
              or instr(:ifMatch, '"' || "signInRules"."revision" || '"') > 0
            )
          )
          and (
            "signInRules"."issuer" is not case
              when json_type(:changes, '$.issuer') is null then "signInRules"."issuer"
              else :changes ->> '$.issuer'
            end
            or "signInRules"."claim" is not case
              when json_type(:changes, '$.claim') is null then "signInRules"."claim"
              else :changes ->> '$.claim'
            end
            or "signInRules"."value" is not case
              when json_type(:changes, '$.value') is null then "signInRules"."value"
              else :changes ->> '$.value'
            end
            or "signInRules"."role" is not case
              when json_type(:changes, '$.role') is null then "signInRules"."role"
              else :changes ->> '$.role'
            end
            or "signInRules"."projectIds" is not case
              when json_type(:changes, '$.projectIds') is null then "signInRules"."projectIds"
              else :changes ->> '$.projectIds'
            end
            or "signInRules"."createdByKeyId" is not "apiKeys"."id"
          )
        )
    )
    and "signInRules"."id" = + :signInRuleId
  )
returning
  "id",
  "issuer",
  "claim",
  "value",
  "role",
  "projectIds",
  "createdByKeyId",
  "createdAt",
  "updatedAt",
  "revision";

-- updateRule.recording
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
  'sign-in-rule.updated' as "type",
  "signInRules"."id" as "resourceId",
  null as "parentId",
  case
    when json_type(:changes, '$.claim') is null then "signInRules"."claim"
    else :changes ->> '$.claim'
  end || '=' || case
    when json_type(:changes, '$.value') is null then "signInRules"."value"
    else :changes ->> '$.value'
  end as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "signInRules" on (
    "signInRules"."organizationId" = "apiKeys"."organizationId"
    and "signInRules"."id" = + :signInRuleId
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
      and ("signInRules"."id" is not null)
      and ("apiKeys"."projectIds" is null)
      and ("apiKeys"."rotatedAt" is null)
      and (
        (
          not true
          or not exists (
            select
              1
            from
              json_each(
                :roleScopes -> (
                  case
                    when json_type(:changes, '$.role') is null then "signInRules"."role"
                    else :changes ->> '$.role'
                  end
                )
              )
            where
              coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
          )
        )
      )
      and (
        not exists (
          select
            1
          from
            json_each(:changes ->> 'projectIds')
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
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "signInRules"."revision" is not null
        )
        or instr(:ifMatch, '"' || "signInRules"."revision" || '"') > 0
      )
    )
    and (
      (
        "signInRules"."issuer" is not case
          when json_type(:changes, '$.issuer') is null then "signInRules"."issuer"
          else :changes ->> '$.issuer'
        end
        or "signInRules"."claim" is not case
          when json_type(:changes, '$.claim') is null then "signInRules"."claim"
          else :changes ->> '$.claim'
        end
        or "signInRules"."value" is not case
          when json_type(:changes, '$.value') is null then "signInRules"."value"
          else :changes ->> '$.value'
        end
        or "signInRules"."role" is not case
          when json_type(:changes, '$.role') is null then "signInRules"."role"
          else :changes ->> '$.role'
        end
        or "signInRules"."projectIds" is not case
          when json_type(:changes, '$.projectIds') is null then "signInRules"."projectIds"
          else :changes ->> '$.projectIds'
        end
        or "signInRules"."createdByKeyId" is not "apiKeys"."id"
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
    )
  );
