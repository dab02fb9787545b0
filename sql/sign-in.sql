-- src/sign-in/statements.ts

-- acceptInvitation
update "invitations"
set
  "acceptedAt" = + :now,
  "identityId" = coalesce(
    (
      select
        "id"
      from
        "identities" "known"
      where
        (
          "known"."organizationId" = + :organizationId
          and "known"."issuer" = + :issuer
          and "known"."subject" = + :subject
        )
    ),
    :newIdentityId
  )
where
  (
    (
      "invitations"."organizationId" = + :organizationId
      and "invitations"."issuer" = + :issuer
      and "invitations"."email" = lower(:email)
      and "invitations"."acceptedAt" is null
      and "invitations"."expiresAt" > :now
    )
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = + :organizationId
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
    )
    and case
      when exists (
        select
          "id"
        from
          "identities" "known"
        where
          (
            "known"."organizationId" = + :organizationId
            and "known"."issuer" = + :issuer
            and "known"."subject" = + :subject
          )
      ) then "invitations"."userId" is null
      and exists (
        select
          "id"
        from
          "identities" "known"
        where
          (
            (
              "known"."organizationId" = + :organizationId
              and "known"."issuer" = + :issuer
              and "known"."subject" = + :subject
            )
            and (
              "known"."blockedAt" is null
              and "known"."ruleIds" is not null
            )
          )
      )
      else (
        "invitations"."userId" is not null
        or not (
          select
            case
              when "organizationUsage"."users" + (1) > max("organizationUsage"."users", :quota.users) then 'users'
            end
          from
            "organizationUsage"
          where
            "organizationUsage"."organizationId" = + :organizationId
        ) is not null
      )
    end
  );

-- admit
insert into
  "identities" (
    "organizationId",
    "id",
    "issuer",
    "subject",
    "userId",
    "email",
    "role",
    "projectIds",
    "ruleIds",
    "roleByKeyId",
    "linkedByKeyId",
    "blockedAt",
    "lastSignInAt",
    "createdAt"
  )
select
  "organizations"."id" as "organizationId",
  :newIdentityId as "id",
  :issuer as "issuer",
  :subject as "subject",
  coalesce("invited"."userId", :newUserId) as "userId",
  :email as "email",
  coalesce("invited"."role", "admission"."role", "known"."role") as "role",
  case
    when "invited"."id" is not null then "invited"."projectIds"
    when "admission"."role" is null then "known"."projectIds"
    else "admission"."projectIds"
  end as "projectIds",
  case
    when "invited"."id" is null then "admission"."ruleIds"
  end as "ruleIds",
  "invited"."createdByKeyId" as "roleByKeyId",
  case
    when "invited"."userId" is not null then "invited"."createdByKeyId"
  end as "linkedByKeyId",
  null as "blockedAt",
  :now as "lastSignInAt",
  :now as "createdAt"
from
  "organizations"
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
          "signInRules"."organizationId" = + :organizationId
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
  left join "identities" "known" on (
    "known"."organizationId" = "organizations"."id"
    and "known"."issuer" = + :issuer
    and "known"."subject" = + :subject
  )
  left join "invitations" "invited" on (
    "invited"."organizationId" = "organizations"."id"
    and "invited"."identityId" = coalesce("known"."id", :newIdentityId)
    and "invited"."acceptedAt" = + :now
    and changes() > 0
  )
where
  (
    "organizations"."id" = + :organizationId
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
    )
    and (
      "known"."id" is not null
      or "invited"."id" is not null
      or (
        "admission"."role" is not null
        and not (
          select
            case
              when "organizationUsage"."users" + (1) > max("organizationUsage"."users", :quota.users) then 'users'
            end
          from
            "organizationUsage"
          where
            "organizationUsage"."organizationId" = "organizations"."id"
        ) is not null
      )
    )
  )
on conflict ("identities"."organizationId", "identities"."issuer", "identities"."subject") do update
set
  "email" = excluded."email",
  "role" = case
    when "identities"."ruleIds" is null then "identities"."role"
    else excluded."role"
  end,
  "projectIds" = case
    when "identities"."ruleIds" is null then "identities"."projectIds"
    else excluded."projectIds"
  end,
  "ruleIds" = case
    when "identities"."ruleIds" is not null then excluded."ruleIds"
  end,
  "roleByKeyId" = case
    when "identities"."ruleIds" is null then "identities"."roleByKeyId"
    else excluded."roleByKeyId"
  end,
  "lastSignInAt" = case
    when "identities"."ruleIds" is null
    or excluded."ruleIds" is not '[]' then excluded."lastSignInAt"
    else "identities"."lastSignInAt"
  end
where
  "identities"."blockedAt" is null;

-- endKeys
update "apiKeys"
set
  "revokedAt" = + :now
where
  "apiKeys"."hash" in (
    select
      "ended"."hash"
    from
      "identities"
      inner join "apiKeys" "ended" on (
        "ended"."organizationId" = "identities"."organizationId"
        and "ended"."identityId" = "identities"."id"
        and "ended"."revokedAt" is null
        and (
          "ended"."expiresAt" is null
          or "ended"."expiresAt" > :now
        )
        and (
          "identities"."ruleIds" = '[]'
          or not (
            not exists (
              select
                1
              from
                json_each("ended"."scopes")
              where
                coalesce(instr(:roleScopes -> "identities"."role", json_quote(value)), 0) = 0
            )
            or (
              "identities"."role" = 'admin'
              and "ended"."kind" = 'key'
              and "ended"."projectIds" is not null
              and not exists (
                select
                  1
                from
                  json_each("ended"."scopes")
                where
                  value <> 'environment-variables:lease'
                  and value not in (
                    select
                      value
                    from
                      json_each(:roleScopes -> "identities"."role")
                  )
              )
            )
          )
          or (
            "identities"."projectIds" is not null
            and (
              "ended"."projectIds" is null
              or not not exists (
                select
                  1
                from
                  json_each("ended"."projectIds")
                where
                  value not in (
                    select
                      value
                    from
                      json_each("identities"."projectIds")
                  )
              )
            )
          )
          or "ended"."hash" in (
            select
              "other"."hash" as "hash"
            from
              "identities"
              inner join "apiKeys" as "other" indexed by "apiKeysByIdentity" on (
                "other"."organizationId" = "identities"."organizationId"
                and "other"."identityId" = "identities"."id"
                and "other"."kind" = + 'session'
                and "other"."revokedAt" is null
                and "other"."expiresAt" > :now
              )
            where
              (
                "identities"."organizationId" = + :organizationId
                and "identities"."issuer" = + :issuer
                and "identities"."subject" = + :subject
                and not exists (
                  select
                    1
                  from
                    "halts"
                  where
                    "halts"."organizationId" = + :organizationId
                    and (
                      "halts"."until" is null
                      or "halts"."until" > :now
                    )
                )
                and "identities"."blockedAt" is null
              )
            order by
              "other"."id" desc
            limit
              + 20
            offset
              19
          )
        )
      )
    where
      (
        "identities"."organizationId" = + :organizationId
        and "identities"."issuer" = + :issuer
        and "identities"."subject" = + :subject
        and not exists (
          select
            1
          from
            "halts"
          where
            "halts"."organizationId" = + :organizationId
            and (
              "halts"."until" is null
              or "halts"."until" > :now
            )
        )
        and "identities"."blockedAt" is null
      )
  );

-- extendGrants
update "apiKeys"
set
  "expiresAt" = min("apiKeys"."grantEndsAt", :grantIdleEnd)
where
  (
    "apiKeys"."organizationId" = + :organizationId
    and "apiKeys"."identityId" = (
      select
        "id"
      from
        "identities"
      where
        (
          (
            "identities"."organizationId" = + :organizationId
            and "identities"."issuer" = + :issuer
            and "identities"."subject" = + :subject
            and not exists (
              select
                1
              from
                "halts"
              where
                "halts"."organizationId" = + :organizationId
                and (
                  "halts"."until" is null
                  or "halts"."until" > :now
                )
            )
            and "identities"."blockedAt" is null
          )
          and (
            "identities"."ruleIds" is null
            or "identities"."ruleIds" <> '[]'
          )
        )
    )
    and "apiKeys"."kind" = 'grant'
    and "apiKeys"."revokedAt" is null
    and "apiKeys"."expiresAt" > :now
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
    "identityId",
    "clientId",
    "clientName",
    "redirectHost",
    "grantEndsAt",
    "redeemedAt",
    "movedTo",
    "suspendedAt"
  )
select
  "organizationId" as "organizationId",
  :keyId as "id",
  :name as "name",
  'session' as "kind",
  :hash as "hash",
  :roleScopes -> "identities"."role" as "scopes",
  "userId" as "userId",
  "projectIds" as "projectIds",
  :expiresAt as "expiresAt",
  null as "revokedAt",
  null as "rotatedAt",
  null as "lastUsedAt",
  :now as "createdAt",
  null as "idempotencyKey",
  coalesce(
    "identities"."linkedByKeyId",
    case
      when "identities"."ruleIds" is null then "identities"."roleByKeyId"
      else (
        select
          "createdByKeyId"
        from
          "signInRules"
        where
          (
            "signInRules"."organizationId" = "identities"."organizationId"
            and "signInRules"."id" = "identities"."ruleIds" ->> 0
          )
      )
    end
  ) as "createdByKeyId",
  "id" as "identityId",
  null as "clientId",
  null as "clientName",
  null as "redirectHost",
  null as "grantEndsAt",
  null as "redeemedAt",
  null as "movedTo",
  null as "suspendedAt"
from
  "identities"
where
  (
    (
      "identities"."organizationId" = + :organizationId
      and "identities"."issuer" = + :issuer
      and "identities"."subject" = + :subject
      and not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = + :organizationId
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
      )
      and "identities"."blockedAt" is null
    )
    and (
      "identities"."ruleIds" is null
      or "identities"."ruleIds" <> '[]'
    )
  );

-- insertUser
insert into
  "users" ("organizationId", "id", "name", "createdAt", "updatedAt", "revision")
select
  "organizationId" as "organizationId",
  "userId" as "id",
  :name as "name",
  :now as "createdAt",
  :now as "updatedAt",
  lower(hex(randomblob(8))) as "revision"
from
  "identities"
where
  (
    (
      (
        (
          "identities"."organizationId" = + :organizationId
          and "identities"."issuer" = + :issuer
          and "identities"."subject" = + :subject
          and not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = + :organizationId
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
          )
          and "identities"."blockedAt" is null
        )
        and (
          "identities"."ruleIds" is null
          or "identities"."ruleIds" <> '[]'
        )
      )
      and "identities"."id" = + :newIdentityId
    )
    and "identities"."userId" = + :newUserId
  );

-- recordAcceptance
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
          "last"."organizationId" = "invitations"."organizationId"
      ),
      0
    ) + 1
  ) + row_number() over (
    partition by
      "invitations"."organizationId"
  ) - 1 as "sequence",
  substr(:event.id, 1, 24) || lower(hex(randomblob(6))) as "id",
  'invitation.accepted' as "type",
  "id" as "resourceId",
  null as "parentId",
  "email" as "resourceName",
  null as "projectId",
  :keyId as "apiKeyId",
  :name as "apiKeyName",
  coalesce(
    "invitations"."userId",
    (
      select
        "userId"
      from
        "identities" "known"
      where
        (
          "known"."organizationId" = + :organizationId
          and "known"."issuer" = + :issuer
          and "known"."subject" = + :subject
        )
    ),
    :newUserId
  ) as "userId",
  null as "requestId"
from
  "invitations"
where
  (
    (
      "invitations"."organizationId" = + :organizationId
      and "invitations"."issuer" = + :issuer
      and "invitations"."email" = lower(:email)
      and "invitations"."acceptedAt" is null
      and "invitations"."expiresAt" > :now
    )
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = + :organizationId
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
    )
    and case
      when exists (
        select
          "id"
        from
          "identities" "known"
        where
          (
            "known"."organizationId" = + :organizationId
            and "known"."issuer" = + :issuer
            and "known"."subject" = + :subject
          )
      ) then "invitations"."userId" is null
      and exists (
        select
          "id"
        from
          "identities" "known"
        where
          (
            (
              "known"."organizationId" = + :organizationId
              and "known"."issuer" = + :issuer
              and "known"."subject" = + :subject
            )
            and (
              "known"."blockedAt" is null
              and "known"."ruleIds" is not null
            )
          )
      )
      else (
        "invitations"."userId" is not null
        or not (
          select
            case
              when "organizationUsage"."users" + (1) > max("organizationUsage"."users", :quota.users) then 'users'
            end
          from
            "organizationUsage"
          where
            "organizationUsage"."organizationId" = + :organizationId
        ) is not null
      )
    end
  );

-- recordEndedKeys
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
  "ended"."organizationId" as "organizationId",
  max(
    :event.firstSequence,
    coalesce(
      (
        select
          max("sequence")
        from
          "auditEvents" "last"
        where
          "last"."organizationId" = "ended"."organizationId"
      ),
      0
    ) + 1
  ) + row_number() over (
    partition by
      "ended"."organizationId"
  ) - 1 as "sequence",
  substr(:event.id, 1, 24) || lower(hex(randomblob(6))) as "id",
  case "ended"."kind"
    when 'session' then 'api-key.session-ended'
    when 'grant' then 'api-key.app-disconnected'
    else 'api-key.revoked'
  end as "type",
  "ended"."id" as "resourceId",
  null as "parentId",
  "ended"."name" as "resourceName",
  null as "projectId",
  null as "apiKeyId",
  null as "apiKeyName",
  null as "userId",
  null as "requestId"
from
  "identities"
  inner join "apiKeys" "ended" on (
    "ended"."organizationId" = "identities"."organizationId"
    and "ended"."identityId" = "identities"."id"
    and "ended"."revokedAt" is null
    and (
      "ended"."expiresAt" is null
      or "ended"."expiresAt" > :now
    )
    and (
      "identities"."ruleIds" = '[]'
      or not (
        not exists (
          select
            1
          from
            json_each("ended"."scopes")
          where
            coalesce(instr(:roleScopes -> "identities"."role", json_quote(value)), 0) = 0
        )
        or (
          "identities"."role" = 'admin'
          and "ended"."kind" = 'key'
          and "ended"."projectIds" is not null
          and not exists (
            select
              1
            from
              json_each("ended"."scopes")
            where
              value <> 'environment-variables:lease'
              and value not in (
                select
                  value
                from
                  json_each(:roleScopes -> "identities"."role")
              )
          )
        )
      )
      or (
        "identities"."projectIds" is not null
        and (
          "ended"."projectIds" is null
          or not not exists (
            select
              1
            from
              json_each("ended"."projectIds")
            where
              value not in (
                select
                  value
                from
                  json_each("identities"."projectIds")
              )
          )
        )
      )
      or "ended"."hash" in (
        select
          "other"."hash" as "hash"
        from
          "identities"
          inner join "apiKeys" as "other" indexed by "apiKeysByIdentity" on (
            "other"."organizationId" = "identities"."organizationId"
            and "other"."identityId" = "identities"."id"
            and "other"."kind" = + 'session'
            and "other"."revokedAt" is null
            and "other"."expiresAt" > :now
          )
        where
          (
            "identities"."organizationId" = + :organizationId
            and "identities"."issuer" = + :issuer
            and "identities"."subject" = + :subject
            and not exists (
              select
                1
              from
                "halts"
              where
                "halts"."organizationId" = + :organizationId
                and (
                  "halts"."until" is null
                  or "halts"."until" > :now
                )
            )
            and "identities"."blockedAt" is null
          )
        order by
          "other"."id" desc
        limit
          + 20
        offset
          19
      )
    )
  )
where
  (
    "identities"."organizationId" = + :organizationId
    and "identities"."issuer" = + :issuer
    and "identities"."subject" = + :subject
    and not exists (
      select
        1
      from
        "halts"
      where
        "halts"."organizationId" = + :organizationId
        and (
          "halts"."until" is null
          or "halts"."until" > :now
        )
    )
    and "identities"."blockedAt" is null
  );

-- recordIdentity
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
          "last"."organizationId" = "identities"."organizationId"
      ),
      0
    ) + 1
  ) + row_number() over (
    partition by
      "identities"."organizationId"
  ) - 1 as "sequence",
  substr(:event.id, 1, 24) || lower(hex(randomblob(6))) as "id",
  'identity.created' as "type",
  "id" as "resourceId",
  null as "parentId",
  coalesce(:email, :subject) as "resourceName",
  null as "projectId",
  :keyId as "apiKeyId",
  :name as "apiKeyName",
  "userId" as "userId",
  null as "requestId"
from
  "identities"
where
  (
    (
      (
        "identities"."organizationId" = + :organizationId
        and "identities"."issuer" = + :issuer
        and "identities"."subject" = + :subject
        and not exists (
          select
            1
          from
            "halts"
          where
            "halts"."organizationId" = + :organizationId
            and (
              "halts"."until" is null
              or "halts"."until" > :now
            )
        )
        and "identities"."blockedAt" is null
      )
      and (
        "identities"."ruleIds" is null
        or "identities"."ruleIds" <> '[]'
      )
    )
    and "identities"."id" = + :newIdentityId
  );

-- recordSession
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
          "last"."organizationId" = "identities"."organizationId"
      ),
      0
    ) + 1
  ) + row_number() over (
    partition by
      "identities"."organizationId"
  ) - 1 as "sequence",
  substr(:event.id, 1, 24) || lower(hex(randomblob(6))) as "id",
  'api-key.session-created' as "type",
  :keyId as "resourceId",
  null as "parentId",
  :issuer as "resourceName",
  null as "projectId",
  :keyId as "apiKeyId",
  :name as "apiKeyName",
  "userId" as "userId",
  null as "requestId"
from
  "identities"
where
  (
    (
      "identities"."organizationId" = + :organizationId
      and "identities"."issuer" = + :issuer
      and "identities"."subject" = + :subject
      and not exists (
        select
          1
        from
          "halts"
        where
          "halts"."organizationId" = + :organizationId
          and (
            "halts"."until" is null
            or "halts"."until" > :now
          )
      )
      and "identities"."blockedAt" is null
    )
    and (
      "identities"."ruleIds" is null
      or "identities"."ruleIds" <> '[]'
    )
  );

-- recordUser
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
          "last"."organizationId" = "identities"."organizationId"
      ),
      0
    ) + 1
  ) + row_number() over (
    partition by
      "identities"."organizationId"
  ) - 1 as "sequence",
  substr(:event.id, 1, 24) || lower(hex(randomblob(6))) as "id",
  'user.created' as "type",
  "userId" as "resourceId",
  null as "parentId",
  :name as "resourceName",
  null as "projectId",
  :keyId as "apiKeyId",
  :name as "apiKeyName",
  "userId" as "userId",
  null as "requestId"
from
  "identities"
where
  (
    (
      (
        (
          "identities"."organizationId" = + :organizationId
          and "identities"."issuer" = + :issuer
          and "identities"."subject" = + :subject
          and not exists (
            select
              1
            from
              "halts"
            where
              "halts"."organizationId" = + :organizationId
              and (
                "halts"."until" is null
                or "halts"."until" > :now
              )
          )
          and "identities"."blockedAt" is null
        )
        and (
          "identities"."ruleIds" is null
          or "identities"."ruleIds" <> '[]'
        )
      )
      and "identities"."id" = + :newIdentityId
    )
    and "identities"."userId" = + :newUserId
  );

-- selectOutcome
select
  not exists (
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
  ) as "isActive",
  not exists (
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
  ) as "isSettled",
  "identities"."blockedAt" is not null as "isBlocked",
  "identities"."id" is not null as "isKnown",
  coalesce("identities"."userId" = + :newUserId, 0) as "isFirst",
  exists (
    select
      "id"
    from
      "invitations"
    where
      (
        "invitations"."organizationId" = + :organizationId
        and "invitations"."issuer" = + :issuer
        and "invitations"."email" = lower(:email)
        and "invitations"."acceptedAt" is null
        and "invitations"."expiresAt" > :now
      )
  ) as "isInvited",
  "admission"."role" is not null as "hasRule",
  "session"."userId" as "userId",
  "session"."scopes" as "scopes"
from
  "organizations"
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
          "signInRules"."organizationId" = + :organizationId
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
  left join "identities" on (
    "identities"."organizationId" = "organizations"."id"
    and "identities"."issuer" = + :issuer
    and "identities"."subject" = + :subject
  )
  left join "apiKeys" "session" on (
    "session"."organizationId" = "organizations"."id"
    and "session"."hash" = + :hash
  )
where
  "organizations"."id" = + :organizationId;
