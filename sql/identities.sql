-- src/resources/identities/statements.ts

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
  "identities"."id" is not null as "identityExists",
  "apiKeys"."projectIds" is null as "isUnrestricted",
  "apiKeys"."rotatedAt" is null as "callerIsUnrotated",
  (
    "identities"."blockedAt" is null
    or not exists (
      select
        1
      from
        json_each(:roleScopes -> "identities"."role")
      where
        coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
    )
  ) as "callerMayUnblock"
from
  "apiKeys"
  left join "identities" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."id" = + :identityId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- deleteIdentity
delete from "identities"
where
  (
    "identities"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "identities" on (
          "identities"."organizationId" = "apiKeys"."organizationId"
          and "identities"."id" = + :identityId
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
          and ("identities"."id" is not null)
          and ("apiKeys"."projectIds" is null)
          and ("apiKeys"."rotatedAt" is null)
          and (
            (
              "identities"."blockedAt" is null
              or not exists (
                select
                  1
                from
                  json_each(:roleScopes -> "identities"."role")
                where
                  coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
              )
            )
          )
        )
    )
    and "identities"."id" = + :identityId
  )
returning
  "id";

-- deleteIdentity.recording
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
  'identity.deleted' as "type",
  "identities"."id" as "resourceId",
  null as "parentId",
  coalesce("identities"."email", "identities"."subject") as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "identities" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."id" = + :identityId
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
      and ("identities"."id" is not null)
      and ("apiKeys"."projectIds" is null)
      and ("apiKeys"."rotatedAt" is null)
      and (
        (
          "identities"."blockedAt" is null
          or not exists (
            select
              1
            from
              json_each(:roleScopes -> "identities"."role")
            where
              coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
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
  left join "identities" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."id" = + :identityId
  )
  inner join "apiKeys" "ended" on (
    "ended"."organizationId" = "apiKeys"."organizationId"
    and "ended"."identityId" = + :identityId
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
      and ("identities"."id" is not null)
      and ("apiKeys"."projectIds" is null)
      and ("apiKeys"."rotatedAt" is null)
      and (
        (
          "identities"."blockedAt" is null
          or not exists (
            select
              1
            from
              json_each(:roleScopes -> "identities"."role")
            where
              coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
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
        and "ended"."identityId" = + :identityId
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
  left join "identities" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."id" = + :identityId
  )
  inner join "apiKeys" "ended" on (
    "ended"."organizationId" = "apiKeys"."organizationId"
    and "ended"."identityId" = + :identityId
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
      and ("identities"."id" is not null)
      and ("apiKeys"."projectIds" is null)
      and ("apiKeys"."rotatedAt" is null)
      and (
        (
          :role is null
          or "identities"."id" is not "apiKeys"."identityId"
        )
      )
      and (
        (
          :blocked is not 0
          or exists (
            select
              "name"
            from
              "users"
            where
              (
                "users"."organizationId" = "identities"."organizationId"
                and "users"."id" = "identities"."userId"
              )
          )
        )
      )
      and (
        (
          not :isGiving
          or not exists (
            select
              1
            from
              json_each(:roleScopes -> coalesce(:role, "identities"."role"))
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
    )
    and (
      (
        "identities"."role" is not coalesce(:role, "identities"."role")
        or "identities"."projectIds" is not case
          when :role is null then "identities"."projectIds"
          else :projectIds
        end
        or "identities"."ruleIds" is not case
          when not :roleIsGiven then "identities"."ruleIds"
          when :role is null then coalesce("identities"."ruleIds", '[]')
        end
        or "identities"."roleByKeyId" is not case
          when not :roleIsGiven then "identities"."roleByKeyId"
          when :role is not null then "apiKeys"."id"
        end
        or "identities"."blockedAt" is not case :blocked
          when 1 then coalesce("identities"."blockedAt", :now)
          when 0 then null
          else "identities"."blockedAt"
        end
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
        and "ended"."identityId" = + :identityId
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
  "identities"."id" is not null as "identityExists",
  "apiKeys"."projectIds" is null as "isUnrestricted"
from
  "apiKeys"
  left join "identities" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."id" = + :identityId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- selectIdentities
select
  "identities"."id",
  "identities"."issuer",
  "identities"."subject",
  "identities"."userId",
  coalesce(
    (
      select
        "name"
      from
        "users"
      where
        (
          "users"."organizationId" = "identities"."organizationId"
          and "users"."id" = "identities"."userId"
        )
    ),
    coalesce("identities"."email", "identities"."subject")
  ) as "userName",
  "identities"."email",
  "identities"."role",
  "identities"."projectIds",
  "identities"."ruleIds",
  "identities"."blockedAt",
  "identities"."lastSignInAt",
  "identities"."createdAt"
from
  "apiKeys"
  inner join "identities" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."id" > :cursor
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
    and ("apiKeys"."projectIds" is null)
  )
order by
  "identities"."id" asc
limit
  + :rowLimit;

-- selectIdentitiesOfUser
select
  "identities"."id" as "id",
  "identities"."issuer" as "issuer",
  "identities"."subject" as "subject",
  "identities"."userId" as "userId",
  coalesce(
    (
      select
        "name"
      from
        "users"
      where
        (
          "users"."organizationId" = "identities"."organizationId"
          and "users"."id" = "identities"."userId"
        )
    ),
    coalesce("identities"."email", "identities"."subject")
  ) as "userName",
  "identities"."email" as "email",
  "identities"."role" as "role",
  "identities"."projectIds" as "projectIds",
  "identities"."ruleIds" as "ruleIds",
  "identities"."blockedAt" as "blockedAt",
  "identities"."lastSignInAt" as "lastSignInAt",
  "identities"."createdAt" as "createdAt"
from
  "apiKeys"
  inner join "identities" indexed by "identitiesByUser" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."userId" = + :userId
    and "identities"."id" > :cursor
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
    and ("apiKeys"."projectIds" is null)
  )
order by
  "identities"."id" asc
limit
  + :rowLimit;

-- selectIdentity
select
  "identities"."id",
  "identities"."issuer",
  "identities"."subject",
  "identities"."userId",
  coalesce(
    (
      select
        "name"
      from
        "users"
      where
        (
          "users"."organizationId" = "identities"."organizationId"
          and "users"."id" = "identities"."userId"
        )
    ),
    coalesce("identities"."email", "identities"."subject")
  ) as "userName",
  "identities"."email",
  "identities"."role",
  "identities"."projectIds",
  "identities"."ruleIds",
  "identities"."blockedAt",
  "identities"."lastSignInAt",
  "identities"."createdAt"
from
  "apiKeys"
  left join "identities" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."id" = + :identityId
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
    and ("identities"."id" is not null)
    and ("apiKeys"."projectIds" is null)
  );

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
  "identities"."id" is not null as "identityExists",
  "apiKeys"."projectIds" is null as "isUnrestricted",
  "apiKeys"."rotatedAt" is null as "callerIsUnrotated",
  (
    :role is null
    or "identities"."id" is not "apiKeys"."identityId"
  ) as "isNotOwnRole",
  (
    :blocked is not 0
    or exists (
      select
        "name"
      from
        "users"
      where
        (
          "users"."organizationId" = "identities"."organizationId"
          and "users"."id" = "identities"."userId"
        )
    )
  ) as "userExists",
  (
    not :isGiving
    or not exists (
      select
        1
      from
        json_each(:roleScopes -> coalesce(:role, "identities"."role"))
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
  case
    when not (
      "identities"."role" is not coalesce(:role, "identities"."role")
      or "identities"."projectIds" is not case
        when :role is null then "identities"."projectIds"
        else :projectIds
      end
      or "identities"."ruleIds" is not case
        when not :roleIsGiven then "identities"."ruleIds"
        when :role is null then coalesce("identities"."ruleIds", '[]')
      end
      or "identities"."roleByKeyId" is not case
        when not :roleIsGiven then "identities"."roleByKeyId"
        when :role is not null then "apiKeys"."id"
      end
      or "identities"."blockedAt" is not case :blocked
        when 1 then coalesce("identities"."blockedAt", :now)
        when 0 then null
        else "identities"."blockedAt"
      end
    ) then json_object(
      'id',
      "identities"."id",
      'issuer',
      "identities"."issuer",
      'subject',
      "identities"."subject",
      'userId',
      "identities"."userId",
      'userName',
      coalesce(
        (
          select
            "name"
          from
            "users"
          where
            (
              "users"."organizationId" = "identities"."organizationId"
              and "users"."id" = "identities"."userId"
            )
        ),
        coalesce("identities"."email", "identities"."subject")
      ),
      'email',
      "identities"."email",
      'role',
      "identities"."role",
      'projectIds',
      "identities"."projectIds",
      'ruleIds',
      "identities"."ruleIds",
      'blockedAt',
      "identities"."blockedAt",
      'lastSignInAt',
      "identities"."lastSignInAt",
      'createdAt',
      "identities"."createdAt"
    )
  end as "unchanged"
from
  "apiKeys"
  left join "identities" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."id" = + :identityId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- updateIdentity
update "identities"
set
  "role" = coalesce(:role, "identities"."role"),
  "projectIds" = case
    when :role is null then "identities"."projectIds"
    else :projectIds
  end,
  "ruleIds" = case
    when not :roleIsGiven then "identities"."ruleIds"
    when :role is null then coalesce("identities"."ruleIds", '[]')
  end,
  "roleByKeyId" = case
    when not :roleIsGiven then "identities"."roleByKeyId"
    when :role is not null then (
      select
        "apiKeys"."id"
      from
        "apiKeys"
        left join "identities" on (
          "identities"."organizationId" = "apiKeys"."organizationId"
          and "identities"."id" = + :identityId
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
          and ("identities"."id" is not null)
          and ("apiKeys"."projectIds" is null)
          and ("apiKeys"."rotatedAt" is null)
          and (
            (
              :role is null
              or "identities"."id" is not "apiKeys"."identityId"
            )
          )
          and (
            (
              :blocked is not 0
              or exists (
                select
                  "name"
                from
                  "users"
                where
                  (
                    "users"."organizationId" = "identities"."organizationId"
                    and "users"."id" = "identities"."userId"
                  )
              )
            )
          )
          and (
            (
              not :isGiving
              or not exists (
                select
                  1
                from
                  json_each(:roleScopes -> coalesce(:role, "identities"."role"))
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
        )
    )
  end,
  "blockedAt" = case :blocked
    when 1 then coalesce("identities"."blockedAt", :now)
    when 0 then null
    else "identities"."blockedAt"
  end
where
  (
    "identities"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "identities" on (
          "identities"."organizationId" = "apiKeys"."organizationId"
          and "identities"."id" = + :identityId
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
            and ("identities"."id" is not null)
            and ("apiKeys"."projectIds" is null)
            and ("apiKeys"."rotatedAt" is null)
            and (
              (
                :role is null
                or "identities"."id" is not "apiKeys"."identityId"
              )
            )
            and (
              (
                :blocked is not 0
                or exists (
                  select
                    "name"
                  from
                    "users"
                  where
                    (
                      "users"."organizationId" = "identities"."organizationId"
                      and "users"."id" = "identities"."userId"
                    )
                )
              )
            )
            and (
              (
                not :isGiving
                or not exists (
                  select
                    1
                  from
                    json_each(:roleScopes -> coalesce(:role, "identities"."role"))
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
          )
          and (
            "identities"."role" is not coalesce(:role, "identities"."role")
            or "identities"."projectIds" is not case
              when :role is null then "identities"."projectIds"
              else :projectIds
            end
            or "identities"."ruleIds" is not case
              when not :roleIsGiven then "identities"."ruleIds"
              when :role is null then coalesce("identities"."ruleIds", '[]')
            end
            or "identities"."roleByKeyId" is not case
              when not :roleIsGiven then "identities"."roleByKeyId"
              when :role is not null then "apiKeys"."id"
            end
            or "identities"."blockedAt" is not case :blocked
              when 1 then coalesce("identities"."blockedAt", :now)
              when 0 then null
              else "identities"."blockedAt"
            end
          )
        )
    )
    and "identities"."id" = + :identityId
  )
returning
  "id",
  "issuer",
  "subject",
  "userId",
  coalesce(
    (
      select
        "name"
      from
        "users"
      where
        (
          "users"."organizationId" = "identities"."organizationId"
          and "users"."id" = "identities"."userId"
        )
    ),
    coalesce("identities"."email", "identities"."subject")
  ) as "userName",
  "email",
  "role",
  "projectIds",
  "ruleIds",
  "blockedAt",
  "lastSignInAt",
  "createdAt";

-- updateIdentity.recording
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
  case
    when :blocked = 1
    and "identities"."blockedAt" is null then 'identity.blocked'
    when :blocked = 0
    and "identities"."blockedAt" is not null then 'identity.unblocked'
    else 'identity.updated'
  end as "type",
  "identities"."id" as "resourceId",
  null as "parentId",
  coalesce("identities"."email", "identities"."subject") as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "identities" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."id" = + :identityId
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
      and ("identities"."id" is not null)
      and ("apiKeys"."projectIds" is null)
      and ("apiKeys"."rotatedAt" is null)
      and (
        (
          :role is null
          or "identities"."id" is not "apiKeys"."identityId"
        )
      )
      and (
        (
          :blocked is not 0
          or exists (
            select
              "name"
            from
              "users"
            where
              (
                "users"."organizationId" = "identities"."organizationId"
                and "users"."id" = "identities"."userId"
              )
          )
        )
      )
      and (
        (
          not :isGiving
          or not exists (
            select
              1
            from
              json_each(:roleScopes -> coalesce(:role, "identities"."role"))
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
    )
    and (
      (
        "identities"."role" is not coalesce(:role, "identities"."role")
        or "identities"."projectIds" is not case
          when :role is null then "identities"."projectIds"
          else :projectIds
        end
        or "identities"."ruleIds" is not case
          when not :roleIsGiven then "identities"."ruleIds"
          when :role is null then coalesce("identities"."ruleIds", '[]')
        end
        or "identities"."roleByKeyId" is not case
          when not :roleIsGiven then "identities"."roleByKeyId"
          when :role is not null then "apiKeys"."id"
        end
        or "identities"."blockedAt" is not case :blocked
          when 1 then coalesce("identities"."blockedAt", :now)
          when 0 then null
          else "identities"."blockedAt"
        end
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
