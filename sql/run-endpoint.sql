-- src/resources/work/run-endpoint/statements.ts

-- accessible.check
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
  "runEndpoints"."organizationId" is not null as "endpointExists",
  "apiKeys"."projectIds" is null as "isUnrestricted"
from
  "apiKeys"
  left join "runEndpoints" on "runEndpoints"."organizationId" = "apiKeys"."organizationId"
where
  "apiKeys"."hash" = + :caller.keyHash;

-- deleteEndpoint
delete from "runEndpoints"
where
  "runEndpoints"."organizationId" = (
    select
      "apiKeys"."organizationId"
    from
      "apiKeys"
      left join "runEndpoints" on "runEndpoints"."organizationId" = "apiKeys"."organizationId"
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
        and ("runEndpoints"."organizationId" is not null)
        and ("apiKeys"."projectIds" is null)
      )
  )
returning
  "url";

-- deleteEndpoint.recording
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
  'run-endpoint.deleted' as "type",
  "organizationId" as "resourceId",
  null as "parentId",
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

-- putEndpoint
insert into
  "runEndpoints" (
    "organizationId",
    "url",
    "sealedSecret",
    "previousSealedSecret",
    "previousExpiresAt",
    "createdAt",
    "updatedAt",
    "slowUntil"
  )
select
  "organizationId" as "organizationId",
  :url as "url",
  :sealedSecret as "sealedSecret",
  null as "previousSealedSecret",
  null as "previousExpiresAt",
  :now as "createdAt",
  :now as "updatedAt",
  null as "slowUntil"
from
  "apiKeys"
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
    and "apiKeys"."organizationId" = + :sealedFor
  )
on conflict ("runEndpoints"."organizationId") do update
set
  "url" = excluded."url",
  "updatedAt" = excluded."updatedAt",
  "slowUntil" = + null
where
  ("runEndpoints"."url" is not excluded."url")
returning
  "url",
  case
    when coalesce("runEndpoints"."previousExpiresAt" > :now, false) then "previousExpiresAt"
  end as "previousSecretExpiresAt",
  "createdAt",
  "updatedAt",
  "sealedSecret" = + :sealedSecret as "hasNewSecret";

-- putEndpoint.recording
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
  'run-endpoint.set' as "type",
  "organizationId" as "resourceId",
  null as "parentId",
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
  "runEndpoints"."organizationId" is not null as "endpointExists",
  "apiKeys"."projectIds" is null as "isUnrestricted",
  (
    :expiresAt is null
    or not coalesce("runEndpoints"."previousExpiresAt" > :now, false)
  ) as "noThirdSecret"
from
  "apiKeys"
  left join "runEndpoints" on "runEndpoints"."organizationId" = "apiKeys"."organizationId"
where
  "apiKeys"."hash" = + :caller.keyHash;

-- rotateSecret
update "runEndpoints"
set
  "sealedSecret" = + :sealedSecret,
  "previousSealedSecret" = case
    when :expiresAt is not null then "runEndpoints"."sealedSecret"
  end,
  "previousExpiresAt" = + :expiresAt,
  "updatedAt" = + :now
where
  (
    "runEndpoints"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "runEndpoints" on "runEndpoints"."organizationId" = "apiKeys"."organizationId"
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
          and ("runEndpoints"."organizationId" is not null)
          and ("apiKeys"."projectIds" is null)
          and (
            (
              :expiresAt is null
              or not coalesce("runEndpoints"."previousExpiresAt" > :now, false)
            )
          )
        )
    )
    and "runEndpoints"."organizationId" = + :sealedFor
  )
returning
  "url",
  case
    when coalesce("runEndpoints"."previousExpiresAt" > :now, false) then "previousExpiresAt"
  end as "previousSecretExpiresAt",
  "createdAt",
  "updatedAt";

-- rotateSecret.recording
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
  'run-endpoint.rotated' as "type",
  "organizationId" as "resourceId",
  null as "parentId",
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

-- selectEndpoint
select
  "runEndpoints"."url",
  case
    when coalesce("runEndpoints"."previousExpiresAt" > :now, false) then "runEndpoints"."previousExpiresAt"
  end as "previousSecretExpiresAt",
  "runEndpoints"."createdAt",
  "runEndpoints"."updatedAt"
from
  "apiKeys"
  left join "runEndpoints" on "runEndpoints"."organizationId" = "apiKeys"."organizationId"
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
    and ("runEndpoints"."organizationId" is not null)
    and ("apiKeys"."projectIds" is null)
  );

-- selectUnchanged
select
  "runEndpoints"."url",
  case
    when coalesce("runEndpoints"."previousExpiresAt" > :now, false) then "runEndpoints"."previousExpiresAt"
  end as "previousSecretExpiresAt",
  "runEndpoints"."createdAt",
  "runEndpoints"."updatedAt",
  "runEndpoints"."sealedSecret" = + :sealedSecret as "hasNewSecret"
from
  "apiKeys"
  inner join "runEndpoints" on (
    "runEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "runEndpoints"."url" = + :url
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
      "apiKeys"."organizationId" = + :sealedFor
      and changes() = 0
    )
  );

-- settable.check
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
