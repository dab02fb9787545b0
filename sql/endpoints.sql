-- src/resources/events/endpoints/statements.ts

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
  "eventEndpoints"."id" is not null as "endpointExists",
  "apiKeys"."projectIds" is null as "isUnrestricted"
from
  "apiKeys"
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

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
  (
    select
      count(*)
    from
      "eventEndpoints"
    where
      "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
  ) < 10 as "isWithinLimit"
from
  "apiKeys"
where
  "apiKeys"."hash" = + :caller.keyHash;

-- deleteEndpoint
delete from "eventEndpoints"
where
  (
    "eventEndpoints"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "eventEndpoints" on (
          "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
          and "eventEndpoints"."id" = + :eventEndpointId
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
          and ("eventEndpoints"."id" is not null)
          and ("apiKeys"."projectIds" is null)
        )
    )
    and "eventEndpoints"."id" = + :eventEndpointId
  )
returning
  "id";

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
  'event-endpoint.deleted' as "type",
  "eventEndpoints"."id" as "resourceId",
  null as "parentId",
  "eventEndpoints"."url" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
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
      and ("eventEndpoints"."id" is not null)
      and ("apiKeys"."projectIds" is null)
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

-- insertEndpoint
insert into
  "eventEndpoints" (
    "organizationId",
    "id",
    "format",
    "sealedUrl",
    "url",
    "sealedSecret",
    "previousSealedSecret",
    "previousExpiresAt",
    "types",
    "projectId",
    "note",
    "batch",
    "deliveredSequence",
    "messageId",
    "messageEnd",
    "leaseId",
    "leaseExpiresAt",
    "failures",
    "failingSince",
    "nextAttemptAt",
    "disabledAt",
    "disabledReason",
    "createdAt",
    "updatedAt",
    "lastAttempts"
  )
select
  "organizationId" as "organizationId",
  :id as "id",
  :format as "format",
  :sealedUrl as "sealedUrl",
  :url as "url",
  :sealedSecret as "sealedSecret",
  null as "previousSealedSecret",
  null as "previousExpiresAt",
  :types as "types",
  :projectId as "projectId",
  :note as "note",
  cast(:batch as integer) as "batch",
  coalesce(
    (
      select
        max("sequence")
      from
        "auditEvents"
      where
        "auditEvents"."organizationId" = "apiKeys"."organizationId"
    ),
    0
  ) as "deliveredSequence",
  null as "messageId",
  null as "messageEnd",
  null as "leaseId",
  null as "leaseExpiresAt",
  0 as "failures",
  null as "failingSince",
  null as "nextAttemptAt",
  null as "disabledAt",
  null as "disabledReason",
  :now as "createdAt",
  :now as "updatedAt",
  null as "lastAttempts"
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
      and (
        (
          select
            count(*)
          from
            "eventEndpoints"
          where
            "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
        ) < 10
      )
    )
    and "apiKeys"."organizationId" = + :sealedFor
  );

-- insertEndpoint.recording
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
  'event-endpoint.created' as "type",
  :id as "resourceId",
  null as "parentId",
  :url as "resourceName",
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

-- recordTest
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
  'event-endpoint.tested' as "type",
  "eventEndpoints"."id" as "resourceId",
  null as "parentId",
  "eventEndpoints"."url" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
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
      and ("eventEndpoints"."id" is not null)
      and ("apiKeys"."projectIds" is null)
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

-- rewind
update "eventEndpoints"
set
  "deliveredSequence" = min(
    :after,
    (
      select
        coalesce(max("sequence"), 0)
      from
        "auditEvents"
      where
        "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
    )
  ),
  "messageId" = + null,
  "messageEnd" = + null,
  "updatedAt" = + :now
where
  (
    "eventEndpoints"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "eventEndpoints" on (
          "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
          and "eventEndpoints"."id" = + :eventEndpointId
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
            and ("eventEndpoints"."id" is not null)
            and ("apiKeys"."projectIds" is null)
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
            "eventEndpoints"."messageId" is not null
            or case
              when :after > "eventEndpoints"."deliveredSequence" then coalesce(
                (
                  select
                    max("sequence")
                  from
                    "auditEvents"
                  where
                    "auditEvents"."organizationId" = "apiKeys"."organizationId"
                ),
                0
              ) > "eventEndpoints"."deliveredSequence"
              else :after < "eventEndpoints"."deliveredSequence"
            end
          )
        )
    )
    and "eventEndpoints"."id" = + :eventEndpointId
  );

-- rewind.recording
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
  'event-endpoint.rewound' as "type",
  "eventEndpoints"."id" as "resourceId",
  null as "parentId",
  "eventEndpoints"."url" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
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
      and ("eventEndpoints"."id" is not null)
      and ("apiKeys"."projectIds" is null)
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
      (
        "eventEndpoints"."messageId" is not null
        or case
          when :after > "eventEndpoints"."deliveredSequence" then coalesce(
            (
              select
                max("sequence")
              from
                "auditEvents"
              where
                "auditEvents"."organizationId" = "apiKeys"."organizationId"
            ),
            0
          ) > "eventEndpoints"."deliveredSequence"
          else :after < "eventEndpoints"."deliveredSequence"
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

-- rewindable.check
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
  "eventEndpoints"."id" is not null as "endpointExists",
  "apiKeys"."projectIds" is null as "isUnrestricted",
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
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

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
  "eventEndpoints"."id" is not null as "endpointExists",
  "apiKeys"."projectIds" is null as "isUnrestricted",
  "eventEndpoints"."format" = + 'standard' as "isSigned",
  (
    :expiresAt is null
    or not coalesce("eventEndpoints"."previousExpiresAt" > :now, false)
  ) as "noThirdSecret"
from
  "apiKeys"
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- rotateSecret
update "eventEndpoints"
set
  "sealedSecret" = + :sealedSecret,
  "previousSealedSecret" = case
    when :expiresAt is not null then "eventEndpoints"."sealedSecret"
  end,
  "previousExpiresAt" = + :expiresAt,
  "updatedAt" = + :now
where
  (
    (
      "eventEndpoints"."organizationId" = (
        select
          "apiKeys"."organizationId"
        from
          "apiKeys"
          left join "eventEndpoints" on (
            "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
            and "eventEndpoints"."id" = + :eventEndpointId
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
            and ("eventEndpoints"."id" is not null)
            and ("apiKeys"."projectIds" is null)
            and ("eventEndpoints"."format" = + 'standard')
            and (
              (
                :expiresAt is null
                or not coalesce("eventEndpoints"."previousExpiresAt" > :now, false)
              )
            )
          )
      )
      and "eventEndpoints"."id" = + :eventEndpointId
    )
    and "eventEndpoints"."organizationId" = + :sealedFor
  );

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
  'event-endpoint.rotated' as "type",
  "eventEndpoints"."id" as "resourceId",
  null as "parentId",
  "eventEndpoints"."url" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
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
      and ("eventEndpoints"."id" is not null)
      and ("apiKeys"."projectIds" is null)
      and ("eventEndpoints"."format" = + 'standard')
      and (
        (
          :expiresAt is null
          or not coalesce("eventEndpoints"."previousExpiresAt" > :now, false)
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

-- selectCreated
select
  "eventEndpoints"."id",
  "eventEndpoints"."url",
  "eventEndpoints"."format",
  "eventEndpoints"."types",
  "eventEndpoints"."projectId",
  "eventEndpoints"."note",
  "eventEndpoints"."batch",
  "eventEndpoints"."deliveredSequence" as "cursor",
  (
    select
      count(*)
    from
      (
        select
          "sequence",
          "type",
          "projectId"
        from
          "auditEvents"
        where
          (
            "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
            and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
          )
        order by
          "auditEvents"."sequence" asc
        limit
          + 1000
      ) "ahead"
    where
      (
        (
          "eventEndpoints"."types" is null
          or (
            instr("eventEndpoints"."types", '"' || "ahead"."type" || '"') > 0
            or instr(
              "eventEndpoints"."types",
              '"' || substr("ahead"."type", 1, instr("ahead"."type", '.')) || '*' || '"'
            ) > 0
          )
        )
        and (
          "eventEndpoints"."projectId" is null
          or "ahead"."projectId" = "eventEndpoints"."projectId"
        )
      )
  ) as "behind",
  (
    select
      min("ahead"."sequence")
    from
      (
        select
          "sequence",
          "type",
          "projectId"
        from
          "auditEvents"
        where
          (
            "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
            and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
          )
        order by
          "auditEvents"."sequence" asc
        limit
          + 1000
      ) "ahead"
    where
      (
        (
          "eventEndpoints"."types" is null
          or (
            instr("eventEndpoints"."types", '"' || "ahead"."type" || '"') > 0
            or instr(
              "eventEndpoints"."types",
              '"' || substr("ahead"."type", 1, instr("ahead"."type", '.')) || '*' || '"'
            ) > 0
          )
        )
        and (
          "eventEndpoints"."projectId" is null
          or "ahead"."projectId" = "eventEndpoints"."projectId"
        )
      )
  ) as "behindSince",
  "eventEndpoints"."lastAttempts",
  "eventEndpoints"."failingSince",
  case
    when "eventEndpoints"."disabledAt" is null then "eventEndpoints"."nextAttemptAt"
  end as "nextAttemptAt",
  "eventEndpoints"."disabledAt",
  "eventEndpoints"."disabledReason",
  case
    when coalesce("eventEndpoints"."previousExpiresAt" > :now, false) then "eventEndpoints"."previousExpiresAt"
  end as "previousSecretExpiresAt",
  "eventEndpoints"."createdAt",
  "eventEndpoints"."updatedAt"
from
  "apiKeys"
  inner join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :id
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
  );

-- selectEndpoint
select
  "eventEndpoints"."id",
  "eventEndpoints"."url",
  "eventEndpoints"."format",
  "eventEndpoints"."types",
  "eventEndpoints"."projectId",
  "eventEndpoints"."note",
  "eventEndpoints"."batch",
  "eventEndpoints"."deliveredSequence" as "cursor",
  (
    select
      count(*)
    from
      (
        select
          "sequence",
          "type",
          "projectId"
        from
          "auditEvents"
        where
          (
            "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
            and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
          )
        order by
          "auditEvents"."sequence" asc
        limit
          + 1000
      ) "ahead"
    where
      (
        (
          "eventEndpoints"."types" is null
          or (
            instr("eventEndpoints"."types", '"' || "ahead"."type" || '"') > 0
            or instr(
              "eventEndpoints"."types",
              '"' || substr("ahead"."type", 1, instr("ahead"."type", '.')) || '*' || '"'
            ) > 0
          )
        )
        and (
          "eventEndpoints"."projectId" is null
          or "ahead"."projectId" = "eventEndpoints"."projectId"
        )
      )
  ) as "behind",
  (
    select
      min("ahead"."sequence")
    from
      (
        select
          "sequence",
          "type",
          "projectId"
        from
          "auditEvents"
        where
          (
            "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
            and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
          )
        order by
          "auditEvents"."sequence" asc
        limit
          + 1000
      ) "ahead"
    where
      (
        (
          "eventEndpoints"."types" is null
          or (
            instr("eventEndpoints"."types", '"' || "ahead"."type" || '"') > 0
            or instr(
              "eventEndpoints"."types",
              '"' || substr("ahead"."type", 1, instr("ahead"."type", '.')) || '*' || '"'
            ) > 0
          )
        )
        and (
          "eventEndpoints"."projectId" is null
          or "ahead"."projectId" = "eventEndpoints"."projectId"
        )
      )
  ) as "behindSince",
  "eventEndpoints"."lastAttempts",
  "eventEndpoints"."failingSince",
  case
    when "eventEndpoints"."disabledAt" is null then "eventEndpoints"."nextAttemptAt"
  end as "nextAttemptAt",
  "eventEndpoints"."disabledAt",
  "eventEndpoints"."disabledReason",
  case
    when coalesce("eventEndpoints"."previousExpiresAt" > :now, false) then "eventEndpoints"."previousExpiresAt"
  end as "previousSecretExpiresAt",
  "eventEndpoints"."createdAt",
  "eventEndpoints"."updatedAt"
from
  "apiKeys"
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
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
    and ("eventEndpoints"."id" is not null)
    and ("apiKeys"."projectIds" is null)
  );

-- selectEndpoints
select
  "eventEndpoints"."id",
  "eventEndpoints"."url",
  "eventEndpoints"."format",
  "eventEndpoints"."types",
  "eventEndpoints"."projectId",
  "eventEndpoints"."note",
  "eventEndpoints"."batch",
  "eventEndpoints"."deliveredSequence" as "cursor",
  (
    select
      count(*)
    from
      (
        select
          "sequence",
          "type",
          "projectId"
        from
          "auditEvents"
        where
          (
            "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
            and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
          )
        order by
          "auditEvents"."sequence" asc
        limit
          + 1000
      ) "ahead"
    where
      (
        (
          "eventEndpoints"."types" is null
          or (
            instr("eventEndpoints"."types", '"' || "ahead"."type" || '"') > 0
            or instr(
              "eventEndpoints"."types",
              '"' || substr("ahead"."type", 1, instr("ahead"."type", '.')) || '*' || '"'
            ) > 0
          )
        )
        and (
          "eventEndpoints"."projectId" is null
          or "ahead"."projectId" = "eventEndpoints"."projectId"
        )
      )
  ) as "behind",
  (
    select
      min("ahead"."sequence")
    from
      (
        select
          "sequence",
          "type",
          "projectId"
        from
          "auditEvents"
        where
          (
            "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
            and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
          )
        order by
          "auditEvents"."sequence" asc
        limit
          + 1000
      ) "ahead"
    where
      (
        (
          "eventEndpoints"."types" is null
          or (
            instr("eventEndpoints"."types", '"' || "ahead"."type" || '"') > 0
            or instr(
              "eventEndpoints"."types",
              '"' || substr("ahead"."type", 1, instr("ahead"."type", '.')) || '*' || '"'
            ) > 0
          )
        )
        and (
          "eventEndpoints"."projectId" is null
          or "ahead"."projectId" = "eventEndpoints"."projectId"
        )
      )
  ) as "behindSince",
  "eventEndpoints"."lastAttempts",
  "eventEndpoints"."failingSince",
  case
    when "eventEndpoints"."disabledAt" is null then "eventEndpoints"."nextAttemptAt"
  end as "nextAttemptAt",
  "eventEndpoints"."disabledAt",
  "eventEndpoints"."disabledReason",
  case
    when coalesce("eventEndpoints"."previousExpiresAt" > :now, false) then "eventEndpoints"."previousExpiresAt"
  end as "previousSecretExpiresAt",
  "eventEndpoints"."createdAt",
  "eventEndpoints"."updatedAt"
from
  "apiKeys"
  inner join "eventEndpoints" on "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
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
  "eventEndpoints"."id" asc;

-- selectRewound
select
  "eventEndpoints"."id",
  "eventEndpoints"."url",
  "eventEndpoints"."format",
  "eventEndpoints"."types",
  "eventEndpoints"."projectId",
  "eventEndpoints"."note",
  "eventEndpoints"."batch",
  "eventEndpoints"."deliveredSequence" as "cursor",
  (
    select
      count(*)
    from
      (
        select
          "sequence",
          "type",
          "projectId"
        from
          "auditEvents"
        where
          (
            "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
            and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
          )
        order by
          "auditEvents"."sequence" asc
        limit
          + 1000
      ) "ahead"
    where
      (
        (
          "eventEndpoints"."types" is null
          or (
            instr("eventEndpoints"."types", '"' || "ahead"."type" || '"') > 0
            or instr(
              "eventEndpoints"."types",
              '"' || substr("ahead"."type", 1, instr("ahead"."type", '.')) || '*' || '"'
            ) > 0
          )
        )
        and (
          "eventEndpoints"."projectId" is null
          or "ahead"."projectId" = "eventEndpoints"."projectId"
        )
      )
  ) as "behind",
  (
    select
      min("ahead"."sequence")
    from
      (
        select
          "sequence",
          "type",
          "projectId"
        from
          "auditEvents"
        where
          (
            "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
            and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
          )
        order by
          "auditEvents"."sequence" asc
        limit
          + 1000
      ) "ahead"
    where
      (
        (
          "eventEndpoints"."types" is null
          or (
            instr("eventEndpoints"."types", '"' || "ahead"."type" || '"') > 0
            or instr(
              "eventEndpoints"."types",
              '"' || substr("ahead"."type", 1, instr("ahead"."type", '.')) || '*' || '"'
            ) > 0
          )
        )
        and (
          "eventEndpoints"."projectId" is null
          or "ahead"."projectId" = "eventEndpoints"."projectId"
        )
      )
  ) as "behindSince",
  "eventEndpoints"."lastAttempts",
  "eventEndpoints"."failingSince",
  case
    when "eventEndpoints"."disabledAt" is null then "eventEndpoints"."nextAttemptAt"
  end as "nextAttemptAt",
  "eventEndpoints"."disabledAt",
  "eventEndpoints"."disabledReason",
  case
    when coalesce("eventEndpoints"."previousExpiresAt" > :now, false) then "eventEndpoints"."previousExpiresAt"
  end as "previousSecretExpiresAt",
  "eventEndpoints"."createdAt",
  "eventEndpoints"."updatedAt"
from
  "apiKeys"
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
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
    and ("eventEndpoints"."id" is not null)
    and ("apiKeys"."projectIds" is null)
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

-- selectRotated
select
  "eventEndpoints"."id",
  "eventEndpoints"."url",
  "eventEndpoints"."format",
  "eventEndpoints"."types",
  "eventEndpoints"."projectId",
  "eventEndpoints"."note",
  "eventEndpoints"."batch",
  "eventEndpoints"."deliveredSequence" as "cursor",
  (
    select
      count(*)
    from
      (
        select
          "sequence",
          "type",
          "projectId"
        from
          "auditEvents"
        where
          (
            "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
            and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
          )
        order by
          "auditEvents"."sequence" asc
        limit
          + 1000
      ) "ahead"
    where
      (
        (
          "eventEndpoints"."types" is null
          or (
            instr("eventEndpoints"."types", '"' || "ahead"."type" || '"') > 0
            or instr(
              "eventEndpoints"."types",
              '"' || substr("ahead"."type", 1, instr("ahead"."type", '.')) || '*' || '"'
            ) > 0
          )
        )
        and (
          "eventEndpoints"."projectId" is null
          or "ahead"."projectId" = "eventEndpoints"."projectId"
        )
      )
  ) as "behind",
  (
    select
      min("ahead"."sequence")
    from
      (
        select
          "sequence",
          "type",
          "projectId"
        from
          "auditEvents"
        where
          (
            "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
            and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
          )
        order by
          "auditEvents"."sequence" asc
        limit
          + 1000
      ) "ahead"
    where
      (
        (
          "eventEndpoints"."types" is null
          or (
            instr("eventEndpoints"."types", '"' || "ahead"."type" || '"') > 0
            or instr(
              "eventEndpoints"."types",
              '"' || substr("ahead"."type", 1, instr("ahead"."type", '.')) || '*' || '"'
            ) > 0
          )
        )
        and (
          "eventEndpoints"."projectId" is null
          or "ahead"."projectId" = "eventEndpoints"."projectId"
        )
      )
  ) as "behindSince",
  "eventEndpoints"."lastAttempts",
  "eventEndpoints"."failingSince",
  case
    when "eventEndpoints"."disabledAt" is null then "eventEndpoints"."nextAttemptAt"
  end as "nextAttemptAt",
  "eventEndpoints"."disabledAt",
  "eventEndpoints"."disabledReason",
  case
    when coalesce("eventEndpoints"."previousExpiresAt" > :now, false) then "eventEndpoints"."previousExpiresAt"
  end as "previousSecretExpiresAt",
  "eventEndpoints"."createdAt",
  "eventEndpoints"."updatedAt"
from
  "apiKeys"
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
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
      and ("eventEndpoints"."id" is not null)
      and ("apiKeys"."projectIds" is null)
    )
    and "eventEndpoints"."sealedSecret" = + :sealedSecret
  );

-- selectTest
select
  "auditEvents"."sequence",
  "auditEvents"."id",
  "auditEvents"."type",
  "auditEvents"."resourceId",
  "auditEvents"."parentId",
  "auditEvents"."resourceName",
  "auditEvents"."projectId",
  "auditEvents"."apiKeyId",
  "auditEvents"."apiKeyName",
  "auditEvents"."userId",
  "auditEvents"."requestId",
  "users"."name" as "user",
  null as "project"
from
  "apiKeys"
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
  )
  inner join "auditEvents" on (
    "auditEvents"."organizationId" = "apiKeys"."organizationId"
    and "auditEvents"."sequence" >= :event.firstSequence
    and "auditEvents"."requestId" = + :event.requestId
  )
  left join "users" on (
    "users"."organizationId" = "auditEvents"."organizationId"
    and "users"."id" = "auditEvents"."userId"
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
    and ("eventEndpoints"."id" is not null)
    and ("apiKeys"."projectIds" is null)
  );

-- selectTestable
select
  "eventEndpoints"."id",
  "eventEndpoints"."organizationId",
  "eventEndpoints"."format",
  "eventEndpoints"."deliveredSequence",
  "eventEndpoints"."sealedUrl",
  "eventEndpoints"."sealedSecret",
  case
    when coalesce("eventEndpoints"."previousExpiresAt" > :now, false) then "eventEndpoints"."previousSealedSecret"
  end as "previousSealedSecret"
from
  "apiKeys"
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
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
    and ("eventEndpoints"."id" is not null)
    and ("apiKeys"."projectIds" is null)
  );

-- selectUpdated
select
  "eventEndpoints"."id",
  "eventEndpoints"."url",
  "eventEndpoints"."format",
  "eventEndpoints"."types",
  "eventEndpoints"."projectId",
  "eventEndpoints"."note",
  "eventEndpoints"."batch",
  "eventEndpoints"."deliveredSequence" as "cursor",
  (
    select
      count(*)
    from
      (
        select
          "sequence",
          "type",
          "projectId"
        from
          "auditEvents"
        where
          (
            "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
            and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
          )
        order by
          "auditEvents"."sequence" asc
        limit
          + 1000
      ) "ahead"
    where
      (
        (
          "eventEndpoints"."types" is null
          or (
            instr("eventEndpoints"."types", '"' || "ahead"."type" || '"') > 0
            or instr(
              "eventEndpoints"."types",
              '"' || substr("ahead"."type", 1, instr("ahead"."type", '.')) || '*' || '"'
            ) > 0
          )
        )
        and (
          "eventEndpoints"."projectId" is null
          or "ahead"."projectId" = "eventEndpoints"."projectId"
        )
      )
  ) as "behind",
  (
    select
      min("ahead"."sequence")
    from
      (
        select
          "sequence",
          "type",
          "projectId"
        from
          "auditEvents"
        where
          (
            "auditEvents"."organizationId" = "eventEndpoints"."organizationId"
            and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
          )
        order by
          "auditEvents"."sequence" asc
        limit
          + 1000
      ) "ahead"
    where
      (
        (
          "eventEndpoints"."types" is null
          or (
            instr("eventEndpoints"."types", '"' || "ahead"."type" || '"') > 0
            or instr(
              "eventEndpoints"."types",
              '"' || substr("ahead"."type", 1, instr("ahead"."type", '.')) || '*' || '"'
            ) > 0
          )
        )
        and (
          "eventEndpoints"."projectId" is null
          or "ahead"."projectId" = "eventEndpoints"."projectId"
        )
      )
  ) as "behindSince",
  "eventEndpoints"."lastAttempts",
  "eventEndpoints"."failingSince",
  case
    when "eventEndpoints"."disabledAt" is null then "eventEndpoints"."nextAttemptAt"
  end as "nextAttemptAt",
  "eventEndpoints"."disabledAt",
  "eventEndpoints"."disabledReason",
  case
    when coalesce("eventEndpoints"."previousExpiresAt" > :now, false) then "eventEndpoints"."previousExpiresAt"
  end as "previousSecretExpiresAt",
  "eventEndpoints"."createdAt",
  "eventEndpoints"."updatedAt"
from
  "apiKeys"
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
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
    and ("eventEndpoints"."id" is not null)
    and ("apiKeys"."projectIds" is null)
    and (
      (
        not coalesce(:enabled, 0)
        or (
          not exists (
            select
              1
            from
              "auditEvents"
            where
              (
                "auditEvents"."organizationId" = "apiKeys"."organizationId"
                and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
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
                and "eventUsage"."removedTo" > "eventEndpoints"."deliveredSequence"
                and "eventEndpoints"."deliveredSequence" <> :oldestKept - 1
              )
          )
        )
      )
    )
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
  "eventEndpoints"."id" is not null as "endpointExists",
  "apiKeys"."projectIds" is null as "isUnrestricted",
  (
    not coalesce(:enabled, 0)
    or (
      not exists (
        select
          1
        from
          "auditEvents"
        where
          (
            "auditEvents"."organizationId" = "apiKeys"."organizationId"
            and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
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
            and "eventUsage"."removedTo" > "eventEndpoints"."deliveredSequence"
            and "eventEndpoints"."deliveredSequence" <> :oldestKept - 1
          )
      )
    )
  ) as "isKept"
from
  "apiKeys"
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- updateEndpoint
update "eventEndpoints"
set
  "sealedUrl" = case
    when json_type(:changes, '$.sealedUrl') is null then "eventEndpoints"."sealedUrl"
    else :changes ->> '$.sealedUrl'
  end,
  "url" = case
    when json_type(:changes, '$.url') is null then "eventEndpoints"."url"
    else :changes ->> '$.url'
  end,
  "types" = case
    when json_type(:changes, '$.types') is null then "eventEndpoints"."types"
    else :changes ->> '$.types'
  end,
  "projectId" = case
    when json_type(:changes, '$.projectId') is null then "eventEndpoints"."projectId"
    else :changes ->> '$.projectId'
  end,
  "note" = case
    when json_type(:changes, '$.note') is null then "eventEndpoints"."note"
    else :changes ->> '$.note'
  end,
  "batch" = case
    when json_type(:changes, '$.batch') is null then "eventEndpoints"."batch"
    else :changes ->> '$.batch'
  end,
  "messageId" = case
    when not (
      "eventEndpoints"."types" is not case
        when json_type(:changes, '$.types') is null then "eventEndpoints"."types"
        else :changes ->> '$.types'
      end
      or "eventEndpoints"."projectId" is not case
        when json_type(:changes, '$.projectId') is null then "eventEndpoints"."projectId"
        else :changes ->> '$.projectId'
      end
      or "eventEndpoints"."batch" is not case
        when json_type(:changes, '$.batch') is null then "eventEndpoints"."batch"
        else :changes ->> '$.batch'
      end
    ) then "eventEndpoints"."messageId"
  end,
  "messageEnd" = case
    when not (
      "eventEndpoints"."types" is not case
        when json_type(:changes, '$.types') is null then "eventEndpoints"."types"
        else :changes ->> '$.types'
      end
      or "eventEndpoints"."projectId" is not case
        when json_type(:changes, '$.projectId') is null then "eventEndpoints"."projectId"
        else :changes ->> '$.projectId'
      end
      or "eventEndpoints"."batch" is not case
        when json_type(:changes, '$.batch') is null then "eventEndpoints"."batch"
        else :changes ->> '$.batch'
      end
    ) then "eventEndpoints"."messageEnd"
  end,
  "failures" = case
    when coalesce(:enabled, 0) then 0
    else "eventEndpoints"."failures"
  end,
  "failingSince" = case
    when not coalesce(:enabled, 0) then "eventEndpoints"."failingSince"
  end,
  "nextAttemptAt" = case
    when not coalesce(:enabled, 0) then "eventEndpoints"."nextAttemptAt"
  end,
  "disabledAt" = case
    when not coalesce(:enabled, 1) then coalesce("eventEndpoints"."disabledAt", :now)
    when not coalesce(:enabled, 0) then "eventEndpoints"."disabledAt"
  end,
  "disabledReason" = case
    when not coalesce(:enabled, 1) then coalesce("eventEndpoints"."disabledReason", 'A request disabled it.')
    when not coalesce(:enabled, 0) then "eventEndpoints"."disabledReason"
  end,
  "updatedAt" = case
    when (
      "eventEndpoints"."sealedUrl" is not case
        when json_type(:changes, '$.sealedUrl') is null then "eventEndpoints"."sealedUrl"
        else :changes ->> '$.sealedUrl'
      end
      or "eventEndpoints"."url" is not case
        when json_type(:changes, '$.url') is null then "eventEndpoints"."url"
        else :changes ->> '$.url'
      end
      or "eventEndpoints"."types" is not case
        when json_type(:changes, '$.types') is null then "eventEndpoints"."types"
        else :changes ->> '$.types'
      end
      or "eventEndpoints"."projectId" is not case
        when json_type(:changes, '$.projectId') is null then "eventEndpoints"."projectId"
        else :changes ->> '$.projectId'
      end
      or "eventEndpoints"."batch" is not case
        when json_type(:changes, '$.batch') is null then "eventEndpoints"."batch"
        else :changes ->> '$.batch'
      end
      or "eventEndpoints"."note" is not case
        when json_type(:changes, '$.note') is null then "eventEndpoints"."note"
        else :changes ->> '$.note'
      end
      or "eventEndpoints"."disabledAt" is not case
        when not coalesce(:enabled, 1) then coalesce("eventEndpoints"."disabledAt", :now)
        when not coalesce(:enabled, 0) then "eventEndpoints"."disabledAt"
      end
      or "eventEndpoints"."disabledReason" is not case
        when not coalesce(:enabled, 1) then coalesce("eventEndpoints"."disabledReason", 'A request disabled it.')
        when not coalesce(:enabled, 0) then "eventEndpoints"."disabledReason"
      end
    ) then :now
    else "eventEndpoints"."updatedAt"
  end
where
  (
    (
      "eventEndpoints"."organizationId" = (
        select
          "apiKeys"."organizationId"
        from
          "apiKeys"
          left join "eventEndpoints" on (
            "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
            and "eventEndpoints"."id" = + :eventEndpointId
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
            and ("eventEndpoints"."id" is not null)
            and ("apiKeys"."projectIds" is null)
            and (
              (
                not coalesce(:enabled, 0)
                or (
                  not exists (
                    select
                      1
                    from
                      "auditEvents"
                    where
                      (
                        "auditEvents"."organizationId" = "apiKeys"."organizationId"
                        and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
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
                        and "eventUsage"."removedTo" > "eventEndpoints"."deliveredSequence"
                        and "eventEndpoints"."deliveredSequence" <> :oldestKept - 1
                      )
                  )
                )
              )
            )
          )
      )
      and "eventEndpoints"."id" = + :eventEndpointId
    )
    and "eventEndpoints"."organizationId" = + :sealedFor
  );

-- updateEndpoint.recording
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
    when not coalesce(:enabled, 1)
    and "eventEndpoints"."disabledAt" is null then 'event-endpoint.disabled'
    else 'event-endpoint.updated'
  end as "type",
  "eventEndpoints"."id" as "resourceId",
  null as "parentId",
  case
    when json_type(:changes, '$.url') is null then "eventEndpoints"."url"
    else :changes ->> '$.url'
  end as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "eventEndpoints" on (
    "eventEndpoints"."organizationId" = "apiKeys"."organizationId"
    and "eventEndpoints"."id" = + :eventEndpointId
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
      and ("eventEndpoints"."id" is not null)
      and ("apiKeys"."projectIds" is null)
      and (
        (
          not coalesce(:enabled, 0)
          or (
            not exists (
              select
                1
              from
                "auditEvents"
              where
                (
                  "auditEvents"."organizationId" = "apiKeys"."organizationId"
                  and "auditEvents"."sequence" > "eventEndpoints"."deliveredSequence"
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
                  and "eventUsage"."removedTo" > "eventEndpoints"."deliveredSequence"
                  and "eventEndpoints"."deliveredSequence" <> :oldestKept - 1
                )
            )
          )
        )
      )
    )
    and (
      (
        "eventEndpoints"."sealedUrl" is not case
          when json_type(:changes, '$.sealedUrl') is null then "eventEndpoints"."sealedUrl"
          else :changes ->> '$.sealedUrl'
        end
        or "eventEndpoints"."url" is not case
          when json_type(:changes, '$.url') is null then "eventEndpoints"."url"
          else :changes ->> '$.url'
        end
        or "eventEndpoints"."types" is not case
          when json_type(:changes, '$.types') is null then "eventEndpoints"."types"
          else :changes ->> '$.types'
        end
        or "eventEndpoints"."projectId" is not case
          when json_type(:changes, '$.projectId') is null then "eventEndpoints"."projectId"
          else :changes ->> '$.projectId'
        end
        or "eventEndpoints"."batch" is not case
          when json_type(:changes, '$.batch') is null then "eventEndpoints"."batch"
          else :changes ->> '$.batch'
        end
        or "eventEndpoints"."note" is not case
          when json_type(:changes, '$.note') is null then "eventEndpoints"."note"
          else :changes ->> '$.note'
        end
        or "eventEndpoints"."disabledAt" is not case
          when not coalesce(:enabled, 1) then coalesce("eventEndpoints"."disabledAt", :now)
          when not coalesce(:enabled, 0) then "eventEndpoints"."disabledAt"
        end
        or "eventEndpoints"."disabledReason" is not case
          when not coalesce(:enabled, 1) then coalesce("eventEndpoints"."disabledReason", 'A request disabled it.')
          when not coalesce(:enabled, 0) then "eventEndpoints"."disabledReason"
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
