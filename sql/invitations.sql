-- src/resources/invitations/statements.ts

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
    :userId is null
    or exists (
      select
        "id"
      from
        "users"
      where
        (
          "users"."organizationId" = "apiKeys"."organizationId"
          and "users"."id" = + :userId
        )
    )
  ) as "userExists",
  (
    :userId is null
    or (
      "apiKeys"."userId" is null
      or "apiKeys"."userId" is + :userId
    )
  ) as "userIsAccessible",
  not exists (
    select
      "id"
    from
      "invitations"
    where
      (
        (
          "invitations"."organizationId" = "apiKeys"."organizationId"
          and "invitations"."acceptedAt" is null
          and "invitations"."expiresAt" > :now
        )
        and (
          "invitations"."issuer" = + :issuer
          and "invitations"."email" = lower(:email)
        )
      )
  ) as "isOnlyOne",
  (
    select
      count(*)
    from
      (
        select
          "id"
        from
          "invitations"
        where
          (
            "invitations"."organizationId" = "apiKeys"."organizationId"
            and "invitations"."acceptedAt" is null
            and "invitations"."expiresAt" > :now
          )
      )
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
  "invitations"."id" is not null as "invitationExists",
  "apiKeys"."projectIds" is null as "isUnrestricted",
  "apiKeys"."rotatedAt" is null as "callerIsUnrotated",
  "invitations"."identityId" as "acceptedBy"
from
  "apiKeys"
  left join "invitations" on (
    "invitations"."organizationId" = "apiKeys"."organizationId"
    and "invitations"."id" = + :invitationId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- deleteInvitation
delete from "invitations"
where
  (
    "invitations"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "invitations" on (
          "invitations"."organizationId" = "apiKeys"."organizationId"
          and "invitations"."id" = + :invitationId
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
          and ("invitations"."id" is not null)
          and ("apiKeys"."projectIds" is null)
          and ("apiKeys"."rotatedAt" is null)
          and "invitations"."identityId" is null
        )
    )
    and "invitations"."id" = + :invitationId
  )
returning
  "id";

-- deleteInvitation.recording
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
  'invitation.deleted' as "type",
  "invitations"."id" as "resourceId",
  null as "parentId",
  "invitations"."email" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "invitations" on (
    "invitations"."organizationId" = "apiKeys"."organizationId"
    and "invitations"."id" = + :invitationId
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
      and ("invitations"."id" is not null)
      and ("apiKeys"."projectIds" is null)
      and ("apiKeys"."rotatedAt" is null)
      and "invitations"."identityId" is null
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

-- insertInvitation
insert into
  "invitations" (
    "organizationId",
    "id",
    "issuer",
    "email",
    "role",
    "projectIds",
    "userId",
    "createdByKeyId",
    "createdAt",
    "expiresAt",
    "acceptedAt",
    "identityId"
  )
select
  "organizationId" as "organizationId",
  :id as "id",
  :issuer as "issuer",
  lower(:email) as "email",
  :role as "role",
  :projectIds as "projectIds",
  :userId as "userId",
  "id" as "createdByKeyId",
  :now as "createdAt",
  :expiresAt as "expiresAt",
  null as "acceptedAt",
  null as "identityId"
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
        :userId is null
        or exists (
          select
            "id"
          from
            "users"
          where
            (
              "users"."organizationId" = "apiKeys"."organizationId"
              and "users"."id" = + :userId
            )
        )
      )
    )
    and (
      (
        :userId is null
        or (
          "apiKeys"."userId" is null
          or "apiKeys"."userId" is + :userId
        )
      )
    )
    and (
      not exists (
        select
          "id"
        from
          "invitations"
        where
          (
            (
              "invitations"."organizationId" = "apiKeys"."organizationId"
              and "invitations"."acceptedAt" is null
              and "invitations"."expiresAt" > :now
            )
            and (
              "invitations"."issuer" = + :issuer
              and "invitations"."email" = lower(:email)
            )
          )
      )
    )
    and (
      (
        select
          count(*)
        from
          (
            select
              "id"
            from
              "invitations"
            where
              (
                "invitations"."organizationId" = "apiKeys"."organizationId"
                and "invitations"."acceptedAt" is null
                and "invitations"."expiresAt" > :now
              )
          )
      ) < 100
    )
  )
returning
  "id",
  "issuer",
  "email",
  "role",
  "projectIds",
  "userId",
  "createdByKeyId",
  "createdAt",
  "expiresAt",
  "acceptedAt",
  "identityId";

-- insertInvitation.recording
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
  'invitation.created' as "type",
  :id as "resourceId",
  null as "parentId",
  lower(:email) as "resourceName",
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

-- removeEnded
delete from "invitations"
where
  (
    "invitations"."organizationId" = (
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
              :userId is null
              or exists (
                select
                  "id"
                from
                  "users"
                where
                  (
                    "users"."organizationId" = "apiKeys"."organizationId"
                    and "users"."id" = + :userId
                  )
              )
            )
          )
          and (
            (
              :userId is null
              or (
                "apiKeys"."userId" is null
                or "apiKeys"."userId" is + :userId
              )
            )
          )
          and (
            not exists (
              select
                "id"
              from
                "invitations"
              where
                (
                  (
                    "invitations"."organizationId" = "apiKeys"."organizationId"
                    and "invitations"."acceptedAt" is null
                    and "invitations"."expiresAt" > :now
                  )
                  and (
                    "invitations"."issuer" = + :issuer
                    and "invitations"."email" = lower(:email)
                  )
                )
            )
          )
          and (
            (
              select
                count(*)
              from
                (
                  select
                    "id"
                  from
                    "invitations"
                  where
                    (
                      "invitations"."organizationId" = "apiKeys"."organizationId"
                      and "invitations"."acceptedAt" is null
                      and "invitations"."expiresAt" > :now
                    )
                )
            ) < 100
          )
        )
    )
    and (
      "invitations"."acceptedAt" is not null
      or "invitations"."expiresAt" <= :now
    )
  );

-- selectInvitations
select
  "invitations"."id",
  "invitations"."issuer",
  "invitations"."email",
  "invitations"."role",
  "invitations"."projectIds",
  "invitations"."userId",
  "invitations"."createdByKeyId",
  "invitations"."createdAt",
  "invitations"."expiresAt",
  "invitations"."acceptedAt",
  "invitations"."identityId"
from
  "apiKeys"
  inner join "invitations" on "invitations"."organizationId" = "apiKeys"."organizationId"
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
  "invitations"."id" asc;
