-- src/resources/platform-resources/agents.ts

-- statements.puttable.check
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
  "apiKeys"."projectIds" is null as "isUnrestricted",
  (
    "agents"."id" is not null
    or (
      "agents"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted",
  (
    select
      case
        when "organizationUsage"."agents" + ("agents"."id" is null) > max("organizationUsage"."agents", :quota.agents) then 'agents'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "agents"."revision" is not null
  )
  or instr(:ifMatch, '"' || "agents"."revision" || '"') > 0 as "matchesRevision",
  :ifNoneMatch is null
  or "agents"."revision" is null as "isNewIfRequired",
  "agents"."id" is null as "isNew"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'agent'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.put
insert into
  "agents" ("organizationId", "id", "name", "description", "archivedAt", "createdAt", "updatedAt", "revision")
select
  "apiKeys"."organizationId" as "organizationId",
  :id as "id",
  :name as "name",
  :description as "description",
  null as "archivedAt",
  :now as "createdAt",
  :now as "updatedAt",
  lower(hex(randomblob(8))) as "revision"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'agent'
    and "deletions"."resourceId" = + :id
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
    and (
      (
        "agents"."id" is not null
        or (
          "agents"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and (
      select
        case
          when "organizationUsage"."agents" + ("agents"."id" is null) > max("organizationUsage"."agents", :quota.agents) then 'agents'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "agents"."revision" is not null
      )
      or instr(:ifMatch, '"' || "agents"."revision" || '"') > 0
    )
    and (
      :ifNoneMatch is null
      or "agents"."revision" is null
    )
  )
on conflict ("agents"."organizationId", "agents"."id") do update
set
  "name" = excluded."name",
  "description" = excluded."description",
  "updatedAt" = case
    when (
      "agents"."name" is not excluded."name"
      or "agents"."description" is not excluded."description"
    ) then :now
    else "agents"."updatedAt"
  end,
  "revision" = case
    when (
      "agents"."name" is not excluded."name"
      or "agents"."description" is not excluded."description"
    ) then lower(hex(randomblob(8)))
    else "agents"."revision"
  end
returning
  "id",
  "name",
  "description",
  "archivedAt",
  "createdAt",
  "updatedAt",
  "revision";

-- statements.put.recording
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
    when "agents"."id" is null then 'agent.created'
    else 'agent.updated'
  end as "type",
  :id as "resourceId",
  null as "parentId",
  :name as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'agent'
    and "deletions"."resourceId" = + :id
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
      and (
        (
          "agents"."id" is not null
          or (
            "agents"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and (
        select
          case
            when "organizationUsage"."agents" + ("agents"."id" is null) > max("organizationUsage"."agents", :quota.agents) then 'agents'
          end
        from
          "organizationUsage"
        where
          "organizationUsage"."organizationId" = "apiKeys"."organizationId"
      ) is null
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "agents"."revision" is not null
        )
        or instr(:ifMatch, '"' || "agents"."revision" || '"') > 0
      )
      and (
        :ifNoneMatch is null
        or "agents"."revision" is null
      )
    )
    and (
      (
        "agents"."name" is not :name
        or "agents"."description" is not :description
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

-- statements.readable.check
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
  (
    "agents"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  (
    "agents"."id" is not null
    or (
      "agents"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'agent'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.retrieve
select
  "agents"."id",
  "agents"."name",
  "agents"."description",
  "agents"."archivedAt",
  "agents"."createdAt",
  "agents"."updatedAt",
  "agents"."revision"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'agent'
    and "deletions"."resourceId" = + :id
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
      (
        "agents"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and (
      (
        "agents"."id" is not null
        or (
          "agents"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
  );

-- statements.list
select
  "id" as "id",
  "name" as "name",
  "description" as "description",
  "archivedAt" as "archivedAt",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "agents"."id" as "id",
      "agents"."name" as "name",
      "agents"."description" as "description",
      "agents"."archivedAt" as "archivedAt",
      "agents"."createdAt" as "createdAt",
      "agents"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "agents"
        where
          (
            "agents"."organizationId" = (
              select
                "organizationId"
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
            and "agents"."id" > :cursor
          )
        order by
          "agents"."id" asc
        limit
          2500
      ) as "agents"
    where
      (
        :query is null
        or instr(lower("agents"."name"), lower(:query)) > 0
      )
    union all
    select
      *
    from
      (
        select
          "agents"."id",
          null,
          null,
          null,
          "agents"."createdAt",
          null,
          1
        from
          "agents"
        where
          (
            "agents"."organizationId" = (
              select
                "organizationId"
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
            and "agents"."id" > :cursor
          )
        order by
          "agents"."id" asc
        limit
          (:query is not null)
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- statements.deletable.check
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
  (
    "agents"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  "apiKeys"."projectIds" is null as "isUnrestricted",
  (
    "agents"."id" is not null
    or (
      "agents"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "agents"."revision" is not null
  )
  or instr(:ifMatch, '"' || "agents"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'agent'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.deletion.copyDeleted
insert into
  "deletions" (
    "organizationId",
    "resourceType",
    "resourceId",
    "projectId",
    "agentId",
    "deletedAt",
    "finalAt",
    "purgedAt",
    "id",
    "row"
  )
select
  "agents"."organizationId" as "organizationId",
  'agent' as "resourceType",
  "agents"."id" as "resourceId",
  null as "projectId",
  null as "agentId",
  :now as "deletedAt",
  :finalAt as "finalAt",
  null as "purgedAt",
  case
    when :finalAt > :now then :deletionId
  end as "id",
  case
    when :finalAt > :now then json_object(
      'organizationId',
      "agents"."organizationId",
      'id',
      "agents"."id",
      'name',
      "agents"."name",
      'description',
      "agents"."description",
      'archivedAt',
      "agents"."archivedAt",
      'createdAt',
      "agents"."createdAt",
      'updatedAt',
      "agents"."updatedAt",
      'revision',
      "agents"."revision"
    )
  end as "row"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'agent'
    and "deletions"."resourceId" = + :id
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
      (
        "agents"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and ("apiKeys"."projectIds" is null)
    and (
      (
        "agents"."id" is not null
        or (
          "agents"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "agents"."revision" is not null
      )
      or instr(:ifMatch, '"' || "agents"."revision" || '"') > 0
    )
  );

-- statements.deletion.removed
delete from "agents"
where
  (
    "agents"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "agents" on (
          "agents"."organizationId" = "apiKeys"."organizationId"
          and "agents"."id" = + :id
        )
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."resourceType" = + 'agent'
          and "deletions"."resourceId" = + :id
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
            (
              "agents"."id" is not null
              or "deletions"."resourceId" is not null
            )
          )
          and ("apiKeys"."projectIds" is null)
          and (
            (
              "agents"."id" is not null
              or (
                "agents"."id" is null
                and "deletions"."resourceId" is null
              )
            )
          )
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "agents"."revision" is not null
            )
            or instr(:ifMatch, '"' || "agents"."revision" || '"') > 0
          )
        )
    )
    and "agents"."id" = + :id
  )
returning
  "id";

-- statements.deletion.removed.recording
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
  'agent.deleted' as "type",
  "agents"."id" as "resourceId",
  null as "parentId",
  "agents"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'agent'
    and "deletions"."resourceId" = + :id
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
        (
          "agents"."id" is not null
          or "deletions"."resourceId" is not null
        )
      )
      and ("apiKeys"."projectIds" is null)
      and (
        (
          "agents"."id" is not null
          or (
            "agents"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "agents"."revision" is not null
        )
        or instr(:ifMatch, '"' || "agents"."revision" || '"') > 0
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

-- statements.changeable.check
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
  (
    "agents"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  "apiKeys"."projectIds" is null as "isUnrestricted",
  (
    "agents"."id" is not null
    or (
      "agents"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "agents"."revision" is not null
  )
  or instr(:ifMatch, '"' || "agents"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'agent'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.change
update "agents"
set
  "name" = case
    when json_type(:changes, '$.name') is null then "agents"."name"
    else :changes ->> '$.name'
  end,
  "description" = case
    when json_type(:changes, '$.description') is null then "agents"."description"
    else :changes ->> '$.description'
  end,
  "archivedAt" = case
    when :archived is null then "agents"."archivedAt"
    when :archived then coalesce("agents"."archivedAt", :now)
  end,
  "updatedAt" = case
    when (
      "agents"."name" is not case
        when json_type(:changes, '$.name') is null then "agents"."name"
        else :changes ->> '$.name'
      end
      or "agents"."description" is not case
        when json_type(:changes, '$.description') is null then "agents"."description"
        else :changes ->> '$.description'
      end
      or "agents"."archivedAt" is not case
        when :archived is null then "agents"."archivedAt"
        when :archived then coalesce("agents"."archivedAt", :now)
      end
    ) then :now
    else "agents"."updatedAt"
  end,
  "revision" = case
    when (
      "agents"."name" is not case
        when json_type(:changes, '$.name') is null then "agents"."name"
        else :changes ->> '$.name'
      end
      or "agents"."description" is not case
        when json_type(:changes, '$.description') is null then "agents"."description"
        else :changes ->> '$.description'
      end
      or "agents"."archivedAt" is not case
        when :archived is null then "agents"."archivedAt"
        when :archived then coalesce("agents"."archivedAt", :now)
      end
    ) then lower(hex(randomblob(8)))
    else "agents"."revision"
  end
where
  (
    "agents"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "agents" on (
          "agents"."organizationId" = "apiKeys"."organizationId"
          and "agents"."id" = + :id
        )
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."resourceType" = + 'agent'
          and "deletions"."resourceId" = + :id
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
            (
              "agents"."id" is not null
              or "deletions"."resourceId" is not null
            )
          )
          and ("apiKeys"."projectIds" is null)
          and (
            (
              "agents"."id" is not null
              or (
                "agents"."id" is null
                and "deletions"."resourceId" is null
              )
            )
          )
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "agents"."revision" is not null
            )
            or instr(:ifMatch, '"' || "agents"."revision" || '"') > 0
          )
        )
    )
    and "agents"."id" = + :id
  )
returning
  "id",
  "name",
  "description",
  "archivedAt",
  "createdAt",
  "updatedAt",
  "revision";

-- statements.change.recording
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
    when :archived
    and "agents"."archivedAt" is null then 'agent.archived'
    when not :archived
    and "agents"."archivedAt" is not null then 'agent.unarchived'
    else 'agent.updated'
  end as "type",
  "agents"."id" as "resourceId",
  null as "parentId",
  case
    when json_type(:changes, '$.name') is null then "agents"."name"
    else :changes ->> '$.name'
  end as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'agent'
    and "deletions"."resourceId" = + :id
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
        (
          "agents"."id" is not null
          or "deletions"."resourceId" is not null
        )
      )
      and ("apiKeys"."projectIds" is null)
      and (
        (
          "agents"."id" is not null
          or (
            "agents"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "agents"."revision" is not null
        )
        or instr(:ifMatch, '"' || "agents"."revision" || '"') > 0
      )
    )
    and (
      (
        "agents"."name" is not case
          when json_type(:changes, '$.name') is null then "agents"."name"
          else :changes ->> '$.name'
        end
        or "agents"."description" is not case
          when json_type(:changes, '$.description') is null then "agents"."description"
          else :changes ->> '$.description'
        end
        or "agents"."archivedAt" is not case
          when :archived is null then "agents"."archivedAt"
          when :archived then coalesce("agents"."archivedAt", :now)
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

-- src/resources/platform-resources/projects.ts

-- statements.puttable.check
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
  (
    "apiKeys"."projectIds" is null
    or :id in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible",
  (
    "projects"."id" is not null
    or (
      "projects"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted",
  (
    select
      case
        when "organizationUsage"."projects" + ("projects"."id" is null) > max("organizationUsage"."projects", :quota.projects) then 'projects'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "projects"."revision" is not null
  )
  or instr(:ifMatch, '"' || "projects"."revision" || '"') > 0 as "matchesRevision",
  :ifNoneMatch is null
  or "projects"."revision" is null as "isNewIfRequired",
  "projects"."id" is null as "isNew"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'project'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.put
insert into
  "projects" ("organizationId", "id", "name", "description", "archivedAt", "createdAt", "updatedAt", "revision")
select
  "apiKeys"."organizationId" as "organizationId",
  :id as "id",
  :name as "name",
  :description as "description",
  null as "archivedAt",
  :now as "createdAt",
  :now as "updatedAt",
  lower(hex(randomblob(8))) as "revision"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'project'
    and "deletions"."resourceId" = + :id
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
      (
        "apiKeys"."projectIds" is null
        or :id in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and (
      (
        "projects"."id" is not null
        or (
          "projects"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and (
      select
        case
          when "organizationUsage"."projects" + ("projects"."id" is null) > max("organizationUsage"."projects", :quota.projects) then 'projects'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "projects"."revision" is not null
      )
      or instr(:ifMatch, '"' || "projects"."revision" || '"') > 0
    )
    and (
      :ifNoneMatch is null
      or "projects"."revision" is null
    )
  )
on conflict ("projects"."organizationId", "projects"."id") do update
set
  "name" = excluded."name",
  "description" = excluded."description",
  "updatedAt" = case
    when (
      "projects"."name" is not excluded."name"
      or "projects"."description" is not excluded."description"
    ) then :now
    else "projects"."updatedAt"
  end,
  "revision" = case
    when (
      "projects"."name" is not excluded."name"
      or "projects"."description" is not excluded."description"
    ) then lower(hex(randomblob(8)))
    else "projects"."revision"
  end
returning
  "id",
  "name",
  "description",
  "archivedAt",
  "createdAt",
  "updatedAt",
  "revision";

-- statements.put.recording
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
    when "projects"."id" is null then 'project.created'
    else 'project.updated'
  end as "type",
  :id as "resourceId",
  null as "parentId",
  :name as "resourceName",
  :id as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'project'
    and "deletions"."resourceId" = + :id
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
        (
          "apiKeys"."projectIds" is null
          or :id in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and (
        (
          "projects"."id" is not null
          or (
            "projects"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and (
        select
          case
            when "organizationUsage"."projects" + ("projects"."id" is null) > max("organizationUsage"."projects", :quota.projects) then 'projects'
          end
        from
          "organizationUsage"
        where
          "organizationUsage"."organizationId" = "apiKeys"."organizationId"
      ) is null
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "projects"."revision" is not null
        )
        or instr(:ifMatch, '"' || "projects"."revision" || '"') > 0
      )
      and (
        :ifNoneMatch is null
        or "projects"."revision" is null
      )
    )
    and (
      (
        "projects"."name" is not :name
        or "projects"."description" is not :description
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

-- statements.readable.check
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
  (
    "projects"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  (
    "apiKeys"."projectIds" is null
    or :id in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible",
  (
    "projects"."id" is not null
    or (
      "projects"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'project'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.retrieve
select
  "projects"."id",
  "projects"."name",
  "projects"."description",
  "projects"."archivedAt",
  "projects"."createdAt",
  "projects"."updatedAt",
  "projects"."revision"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'project'
    and "deletions"."resourceId" = + :id
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
      (
        "projects"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and (
      (
        "apiKeys"."projectIds" is null
        or :id in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and (
      (
        "projects"."id" is not null
        or (
          "projects"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
  );

-- statements.list
select
  "id" as "id",
  "name" as "name",
  "description" as "description",
  "archivedAt" as "archivedAt",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "projects"."id" as "id",
      "projects"."name" as "name",
      "projects"."description" as "description",
      "projects"."archivedAt" as "archivedAt",
      "projects"."createdAt" as "createdAt",
      "projects"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "projects"
        where
          (
            "projects"."organizationId" = (
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
                  and "apiKeys"."projectIds" is null
                )
            )
            and "projects"."id" > :cursor
          )
        order by
          "projects"."id" asc
        limit
          2500
      ) as "projects"
    where
      (
        :query is null
        or instr(lower("projects"."name"), lower(:query)) > 0
      )
    union all
    select
      *
    from
      (
        select
          "projects"."id",
          null,
          null,
          null,
          "projects"."createdAt",
          null,
          1
        from
          "projects"
        where
          (
            "projects"."organizationId" = (
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
                  and "apiKeys"."projectIds" is null
                )
            )
            and "projects"."id" > :cursor
          )
        order by
          "projects"."id" asc
        limit
          (:query is not null)
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- statements.deletable.check
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
  (
    "projects"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  (
    "apiKeys"."projectIds" is null
    or :id in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible",
  (
    "projects"."id" is not null
    or (
      "projects"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "projects"."revision" is not null
  )
  or instr(:ifMatch, '"' || "projects"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'project'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.deletion.copyDeleted
insert into
  "deletions" (
    "organizationId",
    "resourceType",
    "resourceId",
    "projectId",
    "agentId",
    "deletedAt",
    "finalAt",
    "purgedAt",
    "id",
    "row"
  )
select
  "projects"."organizationId" as "organizationId",
  'project' as "resourceType",
  "projects"."id" as "resourceId",
  "projects"."id" as "projectId",
  null as "agentId",
  :now as "deletedAt",
  :finalAt as "finalAt",
  null as "purgedAt",
  case
    when :finalAt > :now then :deletionId
  end as "id",
  case
    when :finalAt > :now then json_object(
      'organizationId',
      "projects"."organizationId",
      'id',
      "projects"."id",
      'name',
      "projects"."name",
      'description',
      "projects"."description",
      'archivedAt',
      "projects"."archivedAt",
      'createdAt',
      "projects"."createdAt",
      'updatedAt',
      "projects"."updatedAt",
      'revision',
      "projects"."revision"
    )
  end as "row"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'project'
    and "deletions"."resourceId" = + :id
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
      (
        "projects"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and (
      (
        "apiKeys"."projectIds" is null
        or :id in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and (
      (
        "projects"."id" is not null
        or (
          "projects"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "projects"."revision" is not null
      )
      or instr(:ifMatch, '"' || "projects"."revision" || '"') > 0
    )
  );

-- statements.deletion.removed
delete from "projects"
where
  (
    "projects"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "projects" on (
          "projects"."organizationId" = "apiKeys"."organizationId"
          and "projects"."id" = + :id
        )
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."resourceType" = + 'project'
          and "deletions"."resourceId" = + :id
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
            (
              "projects"."id" is not null
              or "deletions"."resourceId" is not null
            )
          )
          and (
            (
              "apiKeys"."projectIds" is null
              or :id in (
                select
                  value
                from
                  json_each("apiKeys"."projectIds")
              )
            )
          )
          and (
            (
              "projects"."id" is not null
              or (
                "projects"."id" is null
                and "deletions"."resourceId" is null
              )
            )
          )
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "projects"."revision" is not null
            )
            or instr(:ifMatch, '"' || "projects"."revision" || '"') > 0
          )
        )
    )
    and "projects"."id" = + :id
  )
returning
  "id";

-- statements.deletion.removed.recording
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
  'project.deleted' as "type",
  "projects"."id" as "resourceId",
  null as "parentId",
  "projects"."name" as "resourceName",
  "projects"."id" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'project'
    and "deletions"."resourceId" = + :id
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
        (
          "projects"."id" is not null
          or "deletions"."resourceId" is not null
        )
      )
      and (
        (
          "apiKeys"."projectIds" is null
          or :id in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and (
        (
          "projects"."id" is not null
          or (
            "projects"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "projects"."revision" is not null
        )
        or instr(:ifMatch, '"' || "projects"."revision" || '"') > 0
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

-- statements.listAccessible
select
  "projects"."id",
  "projects"."name",
  "projects"."description",
  "projects"."archivedAt",
  "projects"."createdAt",
  "projects"."updatedAt",
  0 as "isLastExamined"
from
  "apiKeys"
  inner join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" > :cursor
    and "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
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
    and (
      :query is null
      or instr(lower("projects"."name"), lower(:query)) > 0
    )
  )
order by
  "projects"."id" asc
limit
  + :rowLimit;

-- statements.changeable.check
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
  (
    "projects"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  (
    "apiKeys"."projectIds" is null
    or :id in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible",
  (
    "projects"."id" is not null
    or (
      "projects"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "projects"."revision" is not null
  )
  or instr(:ifMatch, '"' || "projects"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'project'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.change
update "projects"
set
  "name" = case
    when json_type(:changes, '$.name') is null then "projects"."name"
    else :changes ->> '$.name'
  end,
  "description" = case
    when json_type(:changes, '$.description') is null then "projects"."description"
    else :changes ->> '$.description'
  end,
  "archivedAt" = case
    when :archived is null then "projects"."archivedAt"
    when :archived then coalesce("projects"."archivedAt", :now)
  end,
  "updatedAt" = case
    when (
      "projects"."name" is not case
        when json_type(:changes, '$.name') is null then "projects"."name"
        else :changes ->> '$.name'
      end
      or "projects"."description" is not case
        when json_type(:changes, '$.description') is null then "projects"."description"
        else :changes ->> '$.description'
      end
      or "projects"."archivedAt" is not case
        when :archived is null then "projects"."archivedAt"
        when :archived then coalesce("projects"."archivedAt", :now)
      end
    ) then :now
    else "projects"."updatedAt"
  end,
  "revision" = case
    when (
      "projects"."name" is not case
        when json_type(:changes, '$.name') is null then "projects"."name"
        else :changes ->> '$.name'
      end
      or "projects"."description" is not case
        when json_type(:changes, '$.description') is null then "projects"."description"
        else :changes ->> '$.description'
      end
      or "projects"."archivedAt" is not case
        when :archived is null then "projects"."archivedAt"
        when :archived then coalesce("projects"."archivedAt", :now)
      end
    ) then lower(hex(randomblob(8)))
    else "projects"."revision"
  end
where
  (
    "projects"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "projects" on (
          "projects"."organizationId" = "apiKeys"."organizationId"
          and "projects"."id" = + :id
        )
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."resourceType" = + 'project'
          and "deletions"."resourceId" = + :id
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
            (
              "projects"."id" is not null
              or "deletions"."resourceId" is not null
            )
          )
          and (
            (
              "apiKeys"."projectIds" is null
              or :id in (
                select
                  value
                from
                  json_each("apiKeys"."projectIds")
              )
            )
          )
          and (
            (
              "projects"."id" is not null
              or (
                "projects"."id" is null
                and "deletions"."resourceId" is null
              )
            )
          )
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "projects"."revision" is not null
            )
            or instr(:ifMatch, '"' || "projects"."revision" || '"') > 0
          )
        )
    )
    and "projects"."id" = + :id
  )
returning
  "id",
  "name",
  "description",
  "archivedAt",
  "createdAt",
  "updatedAt",
  "revision";

-- statements.change.recording
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
    when :archived
    and "projects"."archivedAt" is null then 'project.archived'
    when not :archived
    and "projects"."archivedAt" is not null then 'project.unarchived'
    else 'project.updated'
  end as "type",
  "projects"."id" as "resourceId",
  null as "parentId",
  case
    when json_type(:changes, '$.name') is null then "projects"."name"
    else :changes ->> '$.name'
  end as "resourceName",
  "projects"."id" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'project'
    and "deletions"."resourceId" = + :id
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
        (
          "projects"."id" is not null
          or "deletions"."resourceId" is not null
        )
      )
      and (
        (
          "apiKeys"."projectIds" is null
          or :id in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and (
        (
          "projects"."id" is not null
          or (
            "projects"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "projects"."revision" is not null
        )
        or instr(:ifMatch, '"' || "projects"."revision" || '"') > 0
      )
    )
    and (
      (
        "projects"."name" is not case
          when json_type(:changes, '$.name') is null then "projects"."name"
          else :changes ->> '$.name'
        end
        or "projects"."description" is not case
          when json_type(:changes, '$.description') is null then "projects"."description"
          else :changes ->> '$.description'
        end
        or "projects"."archivedAt" is not case
          when :archived is null then "projects"."archivedAt"
          when :archived then coalesce("projects"."archivedAt", :now)
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

-- src/resources/platform-resources/pull-requests.ts

-- statements.puttable.check
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
    "apiKeys"."projectIds" is null
    or coalesce("pullRequests"."projectId", "deletions"."projectId", "projects"."id") in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible",
  (
    case
      when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    or (
      "pullRequests"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted",
  (
    "pullRequests"."id" is null
    or "pullRequests"."projectId" = "projects"."id"
  ) as "staysInProject",
  "projects"."archivedAt" is null as "projectIsActive",
  (
    select
      case
        when "organizationUsage"."pullRequests" + ("pullRequests"."id" is null) > max("organizationUsage"."pullRequests", :quota.pullRequests) then 'pullRequests'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "pullRequests"."revision" is not null
  )
  or instr(:ifMatch, '"' || "pullRequests"."revision" || '"') > 0 as "matchesRevision",
  :ifNoneMatch is null
  or "pullRequests"."revision" is null as "isNewIfRequired",
  "pullRequests"."id" is null as "isNew"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :projectId
  )
  left join "pullRequests" on (
    "pullRequests"."organizationId" = "apiKeys"."organizationId"
    and "pullRequests"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'pull_request'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.put
insert into
  "pullRequests" ("organizationId", "id", "name", "projectId", "createdAt", "updatedAt", "revision")
select
  "apiKeys"."organizationId" as "organizationId",
  :id as "id",
  :name as "name",
  "projects"."id" as "projectId",
  :now as "createdAt",
  :now as "updatedAt",
  lower(hex(randomblob(8))) as "revision"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :projectId
  )
  left join "pullRequests" on (
    "pullRequests"."organizationId" = "apiKeys"."organizationId"
    and "pullRequests"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'pull_request'
    and "deletions"."resourceId" = + :id
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
    and (
      (
        "apiKeys"."projectIds" is null
        or coalesce("pullRequests"."projectId", "deletions"."projectId", "projects"."id") in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and (
      (
        case
          when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        or (
          "pullRequests"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and (
      (
        "pullRequests"."id" is null
        or "pullRequests"."projectId" = "projects"."id"
      )
    )
    and ("projects"."archivedAt" is null)
    and (
      select
        case
          when "organizationUsage"."pullRequests" + ("pullRequests"."id" is null) > max("organizationUsage"."pullRequests", :quota.pullRequests) then 'pullRequests'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "pullRequests"."revision" is not null
      )
      or instr(:ifMatch, '"' || "pullRequests"."revision" || '"') > 0
    )
    and (
      :ifNoneMatch is null
      or "pullRequests"."revision" is null
    )
  )
on conflict ("pullRequests"."organizationId", "pullRequests"."id") do update
set
  "name" = excluded."name",
  "updatedAt" = case
    when ("pullRequests"."name" is not excluded."name") then :now
    else "pullRequests"."updatedAt"
  end,
  "revision" = case
    when ("pullRequests"."name" is not excluded."name") then lower(hex(randomblob(8)))
    else "pullRequests"."revision"
  end
returning
  "id",
  "projectId",
  "name",
  "createdAt",
  "updatedAt",
  "revision";

-- statements.put.recording
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
    when "pullRequests"."id" is null then 'pull-request.created'
    else 'pull-request.updated'
  end as "type",
  :id as "resourceId",
  null as "parentId",
  :name as "resourceName",
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
  left join "pullRequests" on (
    "pullRequests"."organizationId" = "apiKeys"."organizationId"
    and "pullRequests"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'pull_request'
    and "deletions"."resourceId" = + :id
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
          "apiKeys"."projectIds" is null
          or coalesce("pullRequests"."projectId", "deletions"."projectId", "projects"."id") in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and (
        (
          case
            when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
              select
                "projects"."organizationId",
                "projects"."id"
              from
                "projects"
            ) then 1
            else 0
          end
          or (
            "pullRequests"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and (
        (
          "pullRequests"."id" is null
          or "pullRequests"."projectId" = "projects"."id"
        )
      )
      and ("projects"."archivedAt" is null)
      and (
        select
          case
            when "organizationUsage"."pullRequests" + ("pullRequests"."id" is null) > max("organizationUsage"."pullRequests", :quota.pullRequests) then 'pullRequests'
          end
        from
          "organizationUsage"
        where
          "organizationUsage"."organizationId" = "apiKeys"."organizationId"
      ) is null
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "pullRequests"."revision" is not null
        )
        or instr(:ifMatch, '"' || "pullRequests"."revision" || '"') > 0
      )
      and (
        :ifNoneMatch is null
        or "pullRequests"."revision" is null
      )
    )
    and (
      ("pullRequests"."name" is not :name)
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

-- statements.readable.check
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
  (
    "pullRequests"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  (
    "apiKeys"."projectIds" is null
    or coalesce("pullRequests"."projectId", "deletions"."projectId") in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible",
  (
    case
      when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    or (
      "pullRequests"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted"
from
  "apiKeys"
  left join "pullRequests" on (
    "pullRequests"."organizationId" = "apiKeys"."organizationId"
    and "pullRequests"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'pull_request'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.retrieve
select
  "pullRequests"."id",
  "pullRequests"."projectId",
  "pullRequests"."name",
  "pullRequests"."createdAt",
  "pullRequests"."updatedAt",
  "pullRequests"."revision"
from
  "apiKeys"
  left join "pullRequests" on (
    "pullRequests"."organizationId" = "apiKeys"."organizationId"
    and "pullRequests"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'pull_request'
    and "deletions"."resourceId" = + :id
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
      (
        "pullRequests"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and (
      (
        "apiKeys"."projectIds" is null
        or coalesce("pullRequests"."projectId", "deletions"."projectId") in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and (
      (
        case
          when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        or (
          "pullRequests"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
  );

-- statements.listable.check
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
  :projectId is null
  or "named"."id" is not null as "projectExists",
  :projectId is not null
  or "apiKeys"."projectIds" is null as "isUnrestricted",
  :projectId is null
  or (
    "apiKeys"."projectIds" is null
    or "named"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible"
from
  "apiKeys"
  left join "projects" "named" on (
    "named"."organizationId" = "apiKeys"."organizationId"
    and "named"."id" = + :projectId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.list
select
  "id" as "id",
  "projectId" as "projectId",
  "name" as "name",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "pullRequests"."id" as "id",
      "pullRequests"."projectId" as "projectId",
      "pullRequests"."name" as "name",
      "pullRequests"."createdAt" as "createdAt",
      "pullRequests"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "pullRequests"
        where
          (
            "pullRequests"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and "pullRequests"."id" > :cursor
          )
        order by
          "pullRequests"."id" asc
        limit
          2500
      ) as "pullRequests"
    where
      (
        (
          :query is null
          or instr(lower("pullRequests"."name"), lower(:query)) > 0
        )
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
      )
    union all
    select
      *
    from
      (
        select
          "pullRequests"."id",
          null,
          null,
          "pullRequests"."createdAt",
          null,
          1
        from
          "pullRequests"
        where
          (
            "pullRequests"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and "pullRequests"."id" > :cursor
          )
        order by
          "pullRequests"."id" asc
        limit
          (
            (
              :query is not null
              or exists (
                select
                  1
                from
                  "deletions"
                where
                  "deletions"."organizationId" = (
                    select
                      "apiKeys"."organizationId"
                    from
                      "apiKeys"
                      left join "projects" "named" on (
                        "named"."organizationId" = "apiKeys"."organizationId"
                        and "named"."id" = + :projectId
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
                          :projectId is null
                          or "named"."id" is not null
                        )
                        and (
                          :projectId is not null
                          or "apiKeys"."projectIds" is null
                        )
                        and (
                          :projectId is null
                          or (
                            "apiKeys"."projectIds" is null
                            or "named"."id" in (
                              select
                                value
                              from
                                json_each("apiKeys"."projectIds")
                            )
                          )
                        )
                      )
                  )
                  and "deletions"."resourceType" in ('project')
              )
            )
          )
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- statements.listInProject
select
  "id" as "id",
  "projectId" as "projectId",
  "name" as "name",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "pullRequests"."id" as "id",
      "pullRequests"."projectId" as "projectId",
      "pullRequests"."name" as "name",
      "pullRequests"."createdAt" as "createdAt",
      "pullRequests"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "pullRequests" indexed by "pullRequestsByProject"
        where
          (
            "pullRequests"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and "pullRequests"."projectId" = + :projectId
            and "pullRequests"."id" > :cursor
          )
        order by
          "pullRequests"."id" asc
        limit
          2500
      ) as "pullRequests"
    where
      (
        (
          :query is null
          or instr(lower("pullRequests"."name"), lower(:query)) > 0
        )
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
      )
    union all
    select
      *
    from
      (
        select
          "pullRequests"."id",
          null,
          null,
          "pullRequests"."createdAt",
          null,
          1
        from
          "pullRequests" indexed by "pullRequestsByProject"
        where
          (
            "pullRequests"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and "pullRequests"."projectId" = + :projectId
            and "pullRequests"."id" > :cursor
          )
        order by
          "pullRequests"."id" asc
        limit
          (:query is not null)
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- statements.listLatest
select
  "id" as "id",
  "projectId" as "projectId",
  "name" as "name",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "pullRequests"."id" as "id",
      "pullRequests"."projectId" as "projectId",
      "pullRequests"."name" as "name",
      "pullRequests"."createdAt" as "createdAt",
      "pullRequests"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "pullRequests" indexed by "pullRequestsByCreation"
        where
          (
            "pullRequests"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and ("pullRequests"."createdAt", "pullRequests"."id") < (:createdBefore, :cursor)
          )
        order by
          "pullRequests"."createdAt" desc,
          "pullRequests"."id" desc
        limit
          2500
      ) as "pullRequests"
    where
      (
        (
          :query is null
          or instr(lower("pullRequests"."name"), lower(:query)) > 0
        )
        and (
          (
            :projectId is null
            or "pullRequests"."projectId" = + :projectId
          )
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
        )
      )
    union all
    select
      *
    from
      (
        select
          "pullRequests"."id",
          null,
          null,
          "pullRequests"."createdAt",
          null,
          1
        from
          "pullRequests" indexed by "pullRequestsByCreation"
        where
          (
            "pullRequests"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and ("pullRequests"."createdAt", "pullRequests"."id") < (:createdBefore, :cursor)
          )
        order by
          "pullRequests"."createdAt" desc,
          "pullRequests"."id" desc
        limit
          (
            (
              :query is not null
              or (
                :projectId is not null
                or exists (
                  select
                    1
                  from
                    "deletions"
                  where
                    "deletions"."organizationId" = (
                      select
                        "apiKeys"."organizationId"
                      from
                        "apiKeys"
                        left join "projects" "named" on (
                          "named"."organizationId" = "apiKeys"."organizationId"
                          and "named"."id" = + :projectId
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
                            :projectId is null
                            or "named"."id" is not null
                          )
                          and (
                            :projectId is not null
                            or "apiKeys"."projectIds" is null
                          )
                          and (
                            :projectId is null
                            or (
                              "apiKeys"."projectIds" is null
                              or "named"."id" in (
                                select
                                  value
                                from
                                  json_each("apiKeys"."projectIds")
                              )
                            )
                          )
                        )
                    )
                    and "deletions"."resourceType" in ('project')
                )
              )
            )
          )
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- statements.deletable.check
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
  (
    "pullRequests"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  (
    "apiKeys"."projectIds" is null
    or coalesce("pullRequests"."projectId", "deletions"."projectId") in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible",
  (
    case
      when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    or (
      "pullRequests"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted",
  "projects"."archivedAt" is null as "projectIsActive",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "pullRequests"."revision" is not null
  )
  or instr(:ifMatch, '"' || "pullRequests"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "pullRequests" on (
    "pullRequests"."organizationId" = "apiKeys"."organizationId"
    and "pullRequests"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'pull_request'
    and "deletions"."resourceId" = + :id
  )
  left join "projects" on (
    "projects"."organizationId" = "pullRequests"."organizationId"
    and "projects"."id" = "pullRequests"."projectId"
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.deletion.copyDeleted
insert into
  "deletions" (
    "organizationId",
    "resourceType",
    "resourceId",
    "projectId",
    "agentId",
    "deletedAt",
    "finalAt",
    "purgedAt",
    "id",
    "row"
  )
select
  "pullRequests"."organizationId" as "organizationId",
  'pull_request' as "resourceType",
  "pullRequests"."id" as "resourceId",
  "pullRequests"."projectId" as "projectId",
  null as "agentId",
  :now as "deletedAt",
  :finalAt as "finalAt",
  null as "purgedAt",
  case
    when :finalAt > :now then :deletionId
  end as "id",
  case
    when :finalAt > :now then json_object(
      'organizationId',
      "pullRequests"."organizationId",
      'id',
      "pullRequests"."id",
      'name',
      "pullRequests"."name",
      'projectId',
      "pullRequests"."projectId",
      'createdAt',
      "pullRequests"."createdAt",
      'updatedAt',
      "pullRequests"."updatedAt",
      'revision',
      "pullRequests"."revision"
    )
  end as "row"
from
  "apiKeys"
  left join "pullRequests" on (
    "pullRequests"."organizationId" = "apiKeys"."organizationId"
    and "pullRequests"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'pull_request'
    and "deletions"."resourceId" = + :id
  )
  left join "projects" on (
    "projects"."organizationId" = "pullRequests"."organizationId"
    and "projects"."id" = "pullRequests"."projectId"
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
      (
        "pullRequests"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and (
      (
        "apiKeys"."projectIds" is null
        or coalesce("pullRequests"."projectId", "deletions"."projectId") in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and (
      (
        case
          when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        or (
          "pullRequests"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and ("projects"."archivedAt" is null)
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "pullRequests"."revision" is not null
      )
      or instr(:ifMatch, '"' || "pullRequests"."revision" || '"') > 0
    )
  );

-- statements.deletion.removed
delete from "pullRequests"
where
  (
    "pullRequests"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "pullRequests" on (
          "pullRequests"."organizationId" = "apiKeys"."organizationId"
          and "pullRequests"."id" = + :id
        )
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."resourceType" = + 'pull_request'
          and "deletions"."resourceId" = + :id
        )
        left join "projects" on (
          "projects"."organizationId" = "pullRequests"."organizationId"
          and "projects"."id" = "pullRequests"."projectId"
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
            (
              "pullRequests"."id" is not null
              or "deletions"."resourceId" is not null
            )
          )
          and (
            (
              "apiKeys"."projectIds" is null
              or coalesce("pullRequests"."projectId", "deletions"."projectId") in (
                select
                  value
                from
                  json_each("apiKeys"."projectIds")
              )
            )
          )
          and (
            (
              case
                when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
                  select
                    "projects"."organizationId",
                    "projects"."id"
                  from
                    "projects"
                ) then 1
                else 0
              end
              or (
                "pullRequests"."id" is null
                and "deletions"."resourceId" is null
              )
            )
          )
          and ("projects"."archivedAt" is null)
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "pullRequests"."revision" is not null
            )
            or instr(:ifMatch, '"' || "pullRequests"."revision" || '"') > 0
          )
        )
    )
    and "pullRequests"."id" = + :id
  )
returning
  "id";

-- statements.deletion.removed.recording
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
  'pull-request.deleted' as "type",
  "pullRequests"."id" as "resourceId",
  null as "parentId",
  "pullRequests"."name" as "resourceName",
  "pullRequests"."projectId" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "pullRequests" on (
    "pullRequests"."organizationId" = "apiKeys"."organizationId"
    and "pullRequests"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'pull_request'
    and "deletions"."resourceId" = + :id
  )
  left join "projects" on (
    "projects"."organizationId" = "pullRequests"."organizationId"
    and "projects"."id" = "pullRequests"."projectId"
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
        (
          "pullRequests"."id" is not null
          or "deletions"."resourceId" is not null
        )
      )
      and (
        (
          "apiKeys"."projectIds" is null
          or coalesce("pullRequests"."projectId", "deletions"."projectId") in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and (
        (
          case
            when ("pullRequests"."organizationId", "pullRequests"."projectId") in (
              select
                "projects"."organizationId",
                "projects"."id"
              from
                "projects"
            ) then 1
            else 0
          end
          or (
            "pullRequests"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and ("projects"."archivedAt" is null)
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "pullRequests"."revision" is not null
        )
        or instr(:ifMatch, '"' || "pullRequests"."revision" || '"') > 0
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

-- src/resources/platform-resources/sessions.ts

-- statements.puttable.check
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
    "apiKeys"."projectIds" is null
    or coalesce("sessions"."projectId", "deletions"."projectId", "projects"."id") in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible",
  (
    case
      when ("sessions"."organizationId", "sessions"."projectId") in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    or (
      "sessions"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted",
  (
    "sessions"."id" is null
    or "sessions"."projectId" = "projects"."id"
  ) as "staysInProject",
  "projects"."archivedAt" is null as "projectIsActive",
  (
    select
      case
        when "organizationUsage"."sessions" + ("sessions"."id" is null) > max("organizationUsage"."sessions", :quota.sessions) then 'sessions'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "sessions"."revision" is not null
  )
  or instr(:ifMatch, '"' || "sessions"."revision" || '"') > 0 as "matchesRevision",
  :ifNoneMatch is null
  or "sessions"."revision" is null as "isNewIfRequired",
  "sessions"."id" is null as "isNew"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :projectId
  )
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.put
insert into
  "sessions" ("organizationId", "id", "name", "projectId", "createdAt", "updatedAt", "revision")
select
  "apiKeys"."organizationId" as "organizationId",
  :id as "id",
  :name as "name",
  "projects"."id" as "projectId",
  :now as "createdAt",
  :now as "updatedAt",
  lower(hex(randomblob(8))) as "revision"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = + :projectId
  )
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :id
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
    and (
      (
        "apiKeys"."projectIds" is null
        or coalesce("sessions"."projectId", "deletions"."projectId", "projects"."id") in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and (
      (
        case
          when ("sessions"."organizationId", "sessions"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        or (
          "sessions"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and (
      (
        "sessions"."id" is null
        or "sessions"."projectId" = "projects"."id"
      )
    )
    and ("projects"."archivedAt" is null)
    and (
      select
        case
          when "organizationUsage"."sessions" + ("sessions"."id" is null) > max("organizationUsage"."sessions", :quota.sessions) then 'sessions'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "sessions"."revision" is not null
      )
      or instr(:ifMatch, '"' || "sessions"."revision" || '"') > 0
    )
    and (
      :ifNoneMatch is null
      or "sessions"."revision" is null
    )
  )
on conflict ("sessions"."organizationId", "sessions"."id") do update
set
  "name" = excluded."name",
  "updatedAt" = case
    when ("sessions"."name" is not excluded."name") then :now
    else "sessions"."updatedAt"
  end,
  "revision" = case
    when ("sessions"."name" is not excluded."name") then lower(hex(randomblob(8)))
    else "sessions"."revision"
  end
returning
  "id",
  "projectId",
  "name",
  "createdAt",
  "updatedAt",
  "revision";

-- statements.put.recording
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
    when "sessions"."id" is null then 'session.created'
    else 'session.updated'
  end as "type",
  :id as "resourceId",
  null as "parentId",
  :name as "resourceName",
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
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :id
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
          "apiKeys"."projectIds" is null
          or coalesce("sessions"."projectId", "deletions"."projectId", "projects"."id") in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and (
        (
          case
            when ("sessions"."organizationId", "sessions"."projectId") in (
              select
                "projects"."organizationId",
                "projects"."id"
              from
                "projects"
            ) then 1
            else 0
          end
          or (
            "sessions"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and (
        (
          "sessions"."id" is null
          or "sessions"."projectId" = "projects"."id"
        )
      )
      and ("projects"."archivedAt" is null)
      and (
        select
          case
            when "organizationUsage"."sessions" + ("sessions"."id" is null) > max("organizationUsage"."sessions", :quota.sessions) then 'sessions'
          end
        from
          "organizationUsage"
        where
          "organizationUsage"."organizationId" = "apiKeys"."organizationId"
      ) is null
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "sessions"."revision" is not null
        )
        or instr(:ifMatch, '"' || "sessions"."revision" || '"') > 0
      )
      and (
        :ifNoneMatch is null
        or "sessions"."revision" is null
      )
    )
    and (
      ("sessions"."name" is not :name)
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

-- statements.readable.check
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
  (
    "sessions"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  (
    "apiKeys"."projectIds" is null
    or coalesce("sessions"."projectId", "deletions"."projectId") in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible",
  (
    case
      when ("sessions"."organizationId", "sessions"."projectId") in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    or (
      "sessions"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.retrieve
select
  "sessions"."id",
  "sessions"."projectId",
  "sessions"."name",
  "sessions"."createdAt",
  "sessions"."updatedAt",
  "sessions"."revision"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :id
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
      (
        "sessions"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and (
      (
        "apiKeys"."projectIds" is null
        or coalesce("sessions"."projectId", "deletions"."projectId") in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and (
      (
        case
          when ("sessions"."organizationId", "sessions"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        or (
          "sessions"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
  );

-- statements.listable.check
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
  :projectId is null
  or "named"."id" is not null as "projectExists",
  :projectId is not null
  or "apiKeys"."projectIds" is null as "isUnrestricted",
  :projectId is null
  or (
    "apiKeys"."projectIds" is null
    or "named"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible"
from
  "apiKeys"
  left join "projects" "named" on (
    "named"."organizationId" = "apiKeys"."organizationId"
    and "named"."id" = + :projectId
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.list
select
  "id" as "id",
  "projectId" as "projectId",
  "name" as "name",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "sessions"."id" as "id",
      "sessions"."projectId" as "projectId",
      "sessions"."name" as "name",
      "sessions"."createdAt" as "createdAt",
      "sessions"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "sessions"
        where
          (
            "sessions"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and "sessions"."id" > :cursor
          )
        order by
          "sessions"."id" asc
        limit
          2500
      ) as "sessions"
    where
      (
        (
          :query is null
          or instr(lower("sessions"."name"), lower(:query)) > 0
        )
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
      )
    union all
    select
      *
    from
      (
        select
          "sessions"."id",
          null,
          null,
          "sessions"."createdAt",
          null,
          1
        from
          "sessions"
        where
          (
            "sessions"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and "sessions"."id" > :cursor
          )
        order by
          "sessions"."id" asc
        limit
          (
            (
              :query is not null
              or exists (
                select
                  1
                from
                  "deletions"
                where
                  "deletions"."organizationId" = (
                    select
                      "apiKeys"."organizationId"
                    from
                      "apiKeys"
                      left join "projects" "named" on (
                        "named"."organizationId" = "apiKeys"."organizationId"
                        and "named"."id" = + :projectId
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
                          :projectId is null
                          or "named"."id" is not null
                        )
                        and (
                          :projectId is not null
                          or "apiKeys"."projectIds" is null
                        )
                        and (
                          :projectId is null
                          or (
                            "apiKeys"."projectIds" is null
                            or "named"."id" in (
                              select
                                value
                              from
                                json_each("apiKeys"."projectIds")
                            )
                          )
                        )
                      )
                  )
                  and "deletions"."resourceType" in ('project')
              )
            )
          )
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- statements.listInProject
select
  "id" as "id",
  "projectId" as "projectId",
  "name" as "name",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "sessions"."id" as "id",
      "sessions"."projectId" as "projectId",
      "sessions"."name" as "name",
      "sessions"."createdAt" as "createdAt",
      "sessions"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "sessions" indexed by "sessionsByProject"
        where
          (
            "sessions"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and "sessions"."projectId" = + :projectId
            and "sessions"."id" > :cursor
          )
        order by
          "sessions"."id" asc
        limit
          2500
      ) as "sessions"
    where
      (
        (
          :query is null
          or instr(lower("sessions"."name"), lower(:query)) > 0
        )
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
      )
    union all
    select
      *
    from
      (
        select
          "sessions"."id",
          null,
          null,
          "sessions"."createdAt",
          null,
          1
        from
          "sessions" indexed by "sessionsByProject"
        where
          (
            "sessions"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and "sessions"."projectId" = + :projectId
            and "sessions"."id" > :cursor
          )
        order by
          "sessions"."id" asc
        limit
          (:query is not null)
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- statements.listLatest
select
  "id" as "id",
  "projectId" as "projectId",
  "name" as "name",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "sessions"."id" as "id",
      "sessions"."projectId" as "projectId",
      "sessions"."name" as "name",
      "sessions"."createdAt" as "createdAt",
      "sessions"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "sessions" indexed by "sessionsByCreation"
        where
          (
            "sessions"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and ("sessions"."createdAt", "sessions"."id") < (:createdBefore, :cursor)
          )
        order by
          "sessions"."createdAt" desc,
          "sessions"."id" desc
        limit
          2500
      ) as "sessions"
    where
      (
        (
          :query is null
          or instr(lower("sessions"."name"), lower(:query)) > 0
        )
        and (
          (
            :projectId is null
            or "sessions"."projectId" = + :projectId
          )
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
        )
      )
    union all
    select
      *
    from
      (
        select
          "sessions"."id",
          null,
          null,
          "sessions"."createdAt",
          null,
          1
        from
          "sessions" indexed by "sessionsByCreation"
        where
          (
            "sessions"."organizationId" = (
              select
                "apiKeys"."organizationId"
              from
                "apiKeys"
                left join "projects" "named" on (
                  "named"."organizationId" = "apiKeys"."organizationId"
                  and "named"."id" = + :projectId
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
                    :projectId is null
                    or "named"."id" is not null
                  )
                  and (
                    :projectId is not null
                    or "apiKeys"."projectIds" is null
                  )
                  and (
                    :projectId is null
                    or (
                      "apiKeys"."projectIds" is null
                      or "named"."id" in (
                        select
                          value
                        from
                          json_each("apiKeys"."projectIds")
                      )
                    )
                  )
                )
            )
            and ("sessions"."createdAt", "sessions"."id") < (:createdBefore, :cursor)
          )
        order by
          "sessions"."createdAt" desc,
          "sessions"."id" desc
        limit
          (
            (
              :query is not null
              or (
                :projectId is not null
                or exists (
                  select
                    1
                  from
                    "deletions"
                  where
                    "deletions"."organizationId" = (
                      select
                        "apiKeys"."organizationId"
                      from
                        "apiKeys"
                        left join "projects" "named" on (
                          "named"."organizationId" = "apiKeys"."organizationId"
                          and "named"."id" = + :projectId
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
                            :projectId is null
                            or "named"."id" is not null
                          )
                          and (
                            :projectId is not null
                            or "apiKeys"."projectIds" is null
                          )
                          and (
                            :projectId is null
                            or (
                              "apiKeys"."projectIds" is null
                              or "named"."id" in (
                                select
                                  value
                                from
                                  json_each("apiKeys"."projectIds")
                              )
                            )
                          )
                        )
                    )
                    and "deletions"."resourceType" in ('project')
                )
              )
            )
          )
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- statements.deletable.check
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
  (
    "sessions"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  (
    "apiKeys"."projectIds" is null
    or coalesce("sessions"."projectId", "deletions"."projectId") in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  ) as "isAccessible",
  (
    case
      when ("sessions"."organizationId", "sessions"."projectId") in (
        select
          "projects"."organizationId",
          "projects"."id"
        from
          "projects"
      ) then 1
      else 0
    end
    or (
      "sessions"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted",
  "projects"."archivedAt" is null as "projectIsActive",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "sessions"."revision" is not null
  )
  or instr(:ifMatch, '"' || "sessions"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :id
  )
  left join "projects" on (
    "projects"."organizationId" = "sessions"."organizationId"
    and "projects"."id" = "sessions"."projectId"
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.deletion.copyDeleted
insert into
  "deletions" (
    "organizationId",
    "resourceType",
    "resourceId",
    "projectId",
    "agentId",
    "deletedAt",
    "finalAt",
    "purgedAt",
    "id",
    "row"
  )
select
  "sessions"."organizationId" as "organizationId",
  'session' as "resourceType",
  "sessions"."id" as "resourceId",
  "sessions"."projectId" as "projectId",
  null as "agentId",
  :now as "deletedAt",
  :finalAt as "finalAt",
  null as "purgedAt",
  case
    when :finalAt > :now then :deletionId
  end as "id",
  case
    when :finalAt > :now then json_object(
      'organizationId',
      "sessions"."organizationId",
      'id',
      "sessions"."id",
      'name',
      "sessions"."name",
      'projectId',
      "sessions"."projectId",
      'createdAt',
      "sessions"."createdAt",
      'updatedAt',
      "sessions"."updatedAt",
      'revision',
      "sessions"."revision"
    )
  end as "row"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :id
  )
  left join "projects" on (
    "projects"."organizationId" = "sessions"."organizationId"
    and "projects"."id" = "sessions"."projectId"
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
      (
        "sessions"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and (
      (
        "apiKeys"."projectIds" is null
        or coalesce("sessions"."projectId", "deletions"."projectId") in (
          select
            value
          from
            json_each("apiKeys"."projectIds")
        )
      )
    )
    and (
      (
        case
          when ("sessions"."organizationId", "sessions"."projectId") in (
            select
              "projects"."organizationId",
              "projects"."id"
            from
              "projects"
          ) then 1
          else 0
        end
        or (
          "sessions"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and ("projects"."archivedAt" is null)
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "sessions"."revision" is not null
      )
      or instr(:ifMatch, '"' || "sessions"."revision" || '"') > 0
    )
  );

-- statements.deletion.removed
delete from "sessions"
where
  (
    "sessions"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "sessions" on (
          "sessions"."organizationId" = "apiKeys"."organizationId"
          and "sessions"."id" = + :id
        )
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."resourceType" = + 'session'
          and "deletions"."resourceId" = + :id
        )
        left join "projects" on (
          "projects"."organizationId" = "sessions"."organizationId"
          and "projects"."id" = "sessions"."projectId"
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
            (
              "sessions"."id" is not null
              or "deletions"."resourceId" is not null
            )
          )
          and (
            (
              "apiKeys"."projectIds" is null
              or coalesce("sessions"."projectId", "deletions"."projectId") in (
                select
                  value
                from
                  json_each("apiKeys"."projectIds")
              )
            )
          )
          and (
            (
              case
                when ("sessions"."organizationId", "sessions"."projectId") in (
                  select
                    "projects"."organizationId",
                    "projects"."id"
                  from
                    "projects"
                ) then 1
                else 0
              end
              or (
                "sessions"."id" is null
                and "deletions"."resourceId" is null
              )
            )
          )
          and ("projects"."archivedAt" is null)
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "sessions"."revision" is not null
            )
            or instr(:ifMatch, '"' || "sessions"."revision" || '"') > 0
          )
        )
    )
    and "sessions"."id" = + :id
  )
returning
  "id";

-- statements.deletion.removed.recording
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
  'session.deleted' as "type",
  "sessions"."id" as "resourceId",
  null as "parentId",
  "sessions"."name" as "resourceName",
  "sessions"."projectId" as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'session'
    and "deletions"."resourceId" = + :id
  )
  left join "projects" on (
    "projects"."organizationId" = "sessions"."organizationId"
    and "projects"."id" = "sessions"."projectId"
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
        (
          "sessions"."id" is not null
          or "deletions"."resourceId" is not null
        )
      )
      and (
        (
          "apiKeys"."projectIds" is null
          or coalesce("sessions"."projectId", "deletions"."projectId") in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
        )
      )
      and (
        (
          case
            when ("sessions"."organizationId", "sessions"."projectId") in (
              select
                "projects"."organizationId",
                "projects"."id"
              from
                "projects"
            ) then 1
            else 0
          end
          or (
            "sessions"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and ("projects"."archivedAt" is null)
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "sessions"."revision" is not null
        )
        or instr(:ifMatch, '"' || "sessions"."revision" || '"') > 0
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

-- src/resources/platform-resources/users.ts

-- statements.puttable.check
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
  "apiKeys"."projectIds" is null as "isUnrestricted",
  (
    "users"."id" is not null
    or (
      "users"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted",
  (
    select
      case
        when "organizationUsage"."users" + ("users"."id" is null) > max("organizationUsage"."users", :quota.users) then 'users'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "users"."revision" is not null
  )
  or instr(:ifMatch, '"' || "users"."revision" || '"') > 0 as "matchesRevision",
  :ifNoneMatch is null
  or "users"."revision" is null as "isNewIfRequired",
  "users"."id" is null as "isNew"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'user'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.put
insert into
  "users" ("organizationId", "id", "name", "createdAt", "updatedAt", "revision")
select
  "apiKeys"."organizationId" as "organizationId",
  :id as "id",
  :name as "name",
  :now as "createdAt",
  :now as "updatedAt",
  lower(hex(randomblob(8))) as "revision"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'user'
    and "deletions"."resourceId" = + :id
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
    and (
      (
        "users"."id" is not null
        or (
          "users"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and (
      select
        case
          when "organizationUsage"."users" + ("users"."id" is null) > max("organizationUsage"."users", :quota.users) then 'users'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "users"."revision" is not null
      )
      or instr(:ifMatch, '"' || "users"."revision" || '"') > 0
    )
    and (
      :ifNoneMatch is null
      or "users"."revision" is null
    )
  )
on conflict ("users"."organizationId", "users"."id") do update
set
  "name" = excluded."name",
  "updatedAt" = case
    when ("users"."name" is not excluded."name") then :now
    else "users"."updatedAt"
  end,
  "revision" = case
    when ("users"."name" is not excluded."name") then lower(hex(randomblob(8)))
    else "users"."revision"
  end
returning
  "id",
  "name",
  "createdAt",
  "updatedAt",
  "revision";

-- statements.put.recording
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
    when "users"."id" is null then 'user.created'
    else 'user.updated'
  end as "type",
  :id as "resourceId",
  null as "parentId",
  :name as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'user'
    and "deletions"."resourceId" = + :id
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
      and (
        (
          "users"."id" is not null
          or (
            "users"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and (
        select
          case
            when "organizationUsage"."users" + ("users"."id" is null) > max("organizationUsage"."users", :quota.users) then 'users'
          end
        from
          "organizationUsage"
        where
          "organizationUsage"."organizationId" = "apiKeys"."organizationId"
      ) is null
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "users"."revision" is not null
        )
        or instr(:ifMatch, '"' || "users"."revision" || '"') > 0
      )
      and (
        :ifNoneMatch is null
        or "users"."revision" is null
      )
    )
    and (
      ("users"."name" is not :name)
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

-- statements.readable.check
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
  (
    "users"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  (
    "users"."id" is not null
    or (
      "users"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'user'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.retrieve
select
  "users"."id",
  "users"."name",
  "users"."createdAt",
  "users"."updatedAt",
  "users"."revision"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'user'
    and "deletions"."resourceId" = + :id
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
      (
        "users"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and (
      (
        "users"."id" is not null
        or (
          "users"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
  );

-- statements.list
select
  "id" as "id",
  "name" as "name",
  "createdAt" as "createdAt",
  "updatedAt" as "updatedAt",
  "isLastExamined" as "isLastExamined"
from
  (
    select
      "users"."id" as "id",
      "users"."name" as "name",
      "users"."createdAt" as "createdAt",
      "users"."updatedAt" as "updatedAt",
      0 as "isLastExamined"
    from
      (
        select
          *
        from
          "users"
        where
          (
            "users"."organizationId" = (
              select
                "organizationId"
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
            and "users"."id" > :cursor
          )
        order by
          "users"."id" asc
        limit
          2500
      ) as "users"
    where
      (
        :query is null
        or instr(lower("users"."name"), lower(:query)) > 0
      )
    union all
    select
      *
    from
      (
        select
          "users"."id",
          null,
          "users"."createdAt",
          null,
          1
        from
          "users"
        where
          (
            "users"."organizationId" = (
              select
                "organizationId"
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
            and "users"."id" > :cursor
          )
        order by
          "users"."id" asc
        limit
          (:query is not null)
        offset
          2499
      )
  )
limit
  + :rowLimit;

-- statements.deletable.check
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
  (
    "users"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  "apiKeys"."projectIds" is null as "isUnrestricted",
  not exists (
    select
      1
    from
      "apiKeys" "userKey"
    where
      (
        (
          "userKey"."organizationId" = "apiKeys"."organizationId"
          and "userKey"."userId" = + :id
          and "userKey"."revokedAt" is null
        )
        and (
          "userKey"."expiresAt" is null
          or "userKey"."expiresAt" > :now
        )
        and not (
          (
            (
              (
                "apiKeys"."userId" is null
                or "apiKeys"."userId" is "userKey"."userId"
              )
              and (
                "apiKeys"."projectIds" is null
                or (
                  "userKey"."projectIds" is not null
                  and not exists (
                    select
                      1
                    from
                      json_each("userKey"."projectIds")
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
              "apiKeys"."rotatedAt" is null
              or "userKey"."id" = "apiKeys"."id"
            )
          )
        )
      )
  ) as "managesUserKeys",
  (
    "users"."id" is not null
    or (
      "users"."id" is null
      and "deletions"."resourceId" is null
    )
  ) as "isNotDeleted",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "users"."revision" is not null
  )
  or instr(:ifMatch, '"' || "users"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'user'
    and "deletions"."resourceId" = + :id
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- statements.deletion.copyDeleted
insert into
  "deletions" (
    "organizationId",
    "resourceType",
    "resourceId",
    "projectId",
    "agentId",
    "deletedAt",
    "finalAt",
    "purgedAt",
    "id",
    "row"
  )
select
  "users"."organizationId" as "organizationId",
  'user' as "resourceType",
  "users"."id" as "resourceId",
  null as "projectId",
  null as "agentId",
  :now as "deletedAt",
  :finalAt as "finalAt",
  null as "purgedAt",
  case
    when :finalAt > :now then :deletionId
  end as "id",
  case
    when :finalAt > :now then json_object(
      'organizationId',
      "users"."organizationId",
      'id',
      "users"."id",
      'name',
      "users"."name",
      'createdAt',
      "users"."createdAt",
      'updatedAt',
      "users"."updatedAt",
      'revision',
      "users"."revision"
    )
  end as "row"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'user'
    and "deletions"."resourceId" = + :id
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
      (
        "users"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    and ("apiKeys"."projectIds" is null)
    and (
      not exists (
        select
          1
        from
          "apiKeys" "userKey"
        where
          (
            (
              "userKey"."organizationId" = "apiKeys"."organizationId"
              and "userKey"."userId" = + :id
              and "userKey"."revokedAt" is null
            )
            and (
              "userKey"."expiresAt" is null
              or "userKey"."expiresAt" > :now
            )
            and not (
              (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "userKey"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "userKey"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("userKey"."projectIds")
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
                  "apiKeys"."rotatedAt" is null
                  or "userKey"."id" = "apiKeys"."id"
                )
              )
            )
          )
      )
    )
    and (
      (
        "users"."id" is not null
        or (
          "users"."id" is null
          and "deletions"."resourceId" is null
        )
      )
    )
    and (
      :ifMatch is null
      or (
        :ifMatch = '*'
        and "users"."revision" is not null
      )
      or instr(:ifMatch, '"' || "users"."revision" || '"') > 0
    )
  );

-- statements.deletion.removed
delete from "users"
where
  (
    "users"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "users" on (
          "users"."organizationId" = "apiKeys"."organizationId"
          and "users"."id" = + :id
        )
        left join "deletions" on (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."resourceType" = + 'user'
          and "deletions"."resourceId" = + :id
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
            (
              "users"."id" is not null
              or "deletions"."resourceId" is not null
            )
          )
          and ("apiKeys"."projectIds" is null)
          and (
            not exists (
              select
                1
              from
                "apiKeys" "userKey"
              where
                (
                  (
                    "userKey"."organizationId" = "apiKeys"."organizationId"
                    and "userKey"."userId" = + :id
                    and "userKey"."revokedAt" is null
                  )
                  and (
                    "userKey"."expiresAt" is null
                    or "userKey"."expiresAt" > :now
                  )
                  and not (
                    (
                      (
                        (
                          "apiKeys"."userId" is null
                          or "apiKeys"."userId" is "userKey"."userId"
                        )
                        and (
                          "apiKeys"."projectIds" is null
                          or (
                            "userKey"."projectIds" is not null
                            and not exists (
                              select
                                1
                              from
                                json_each("userKey"."projectIds")
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
                        "apiKeys"."rotatedAt" is null
                        or "userKey"."id" = "apiKeys"."id"
                      )
                    )
                  )
                )
            )
          )
          and (
            (
              "users"."id" is not null
              or (
                "users"."id" is null
                and "deletions"."resourceId" is null
              )
            )
          )
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "users"."revision" is not null
            )
            or instr(:ifMatch, '"' || "users"."revision" || '"') > 0
          )
        )
    )
    and "users"."id" = + :id
  )
returning
  "id";

-- statements.deletion.removed.recording
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
  'user.deleted' as "type",
  "users"."id" as "resourceId",
  null as "parentId",
  "users"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = + :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = + 'user'
    and "deletions"."resourceId" = + :id
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
        (
          "users"."id" is not null
          or "deletions"."resourceId" is not null
        )
      )
      and ("apiKeys"."projectIds" is null)
      and (
        not exists (
          select
            1
          from
            "apiKeys" "userKey"
          where
            (
              (
                "userKey"."organizationId" = "apiKeys"."organizationId"
                and "userKey"."userId" = + :id
                and "userKey"."revokedAt" is null
              )
              and (
                "userKey"."expiresAt" is null
                or "userKey"."expiresAt" > :now
              )
              and not (
                (
                  (
                    (
                      "apiKeys"."userId" is null
                      or "apiKeys"."userId" is "userKey"."userId"
                    )
                    and (
                      "apiKeys"."projectIds" is null
                      or (
                        "userKey"."projectIds" is not null
                        and not exists (
                          select
                            1
                          from
                            json_each("userKey"."projectIds")
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
                    "apiKeys"."rotatedAt" is null
                    or "userKey"."id" = "apiKeys"."id"
                  )
                )
              )
            )
        )
      )
      and (
        (
          "users"."id" is not null
          or (
            "users"."id" is null
            and "deletions"."resourceId" is null
          )
        )
      )
      and (
        :ifMatch is null
        or (
          :ifMatch = '*'
          and "users"."revision" is not null
        )
        or instr(:ifMatch, '"' || "users"."revision" || '"') > 0
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

-- statements.deletion.recordInvitations
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
  substr(:event.id, 1, 32) || printf('%04x', 49152 + row_number() over () - 1) as "id",
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
  inner join "invitations" on (
    "invitations"."organizationId" = "apiKeys"."organizationId"
    and "invitations"."userId" = + :id
    and "invitations"."acceptedAt" is null
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
      and "apiKeys"."projectIds" is null
      and not exists (
        select
          1
        from
          "apiKeys" "userKey"
        where
          (
            (
              "userKey"."organizationId" = "apiKeys"."organizationId"
              and "userKey"."userId" = + :id
              and "userKey"."revokedAt" is null
            )
            and (
              "userKey"."expiresAt" is null
              or "userKey"."expiresAt" > :now
            )
            and not (
              (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "userKey"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "userKey"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("userKey"."projectIds")
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
                  "apiKeys"."rotatedAt" is null
                  or "userKey"."id" = "apiKeys"."id"
                )
              )
            )
          )
      )
      and exists (
        select
          1
        from
          "deletions"
        where
          (
            "deletions"."organizationId" = "apiKeys"."organizationId"
            and "deletions"."resourceType" = + 'user'
            and "deletions"."resourceId" = + :id
            and "deletions"."deletedAt" = + :now
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
            and "recorded"."id" = substr(:event.id, 1, 32) || printf('%04x', 49152 + 0)
          )
      )
    )
  );

-- statements.deletion.deleteInvitations
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
          and "apiKeys"."projectIds" is null
          and not exists (
            select
              1
            from
              "apiKeys" "userKey"
            where
              (
                (
                  "userKey"."organizationId" = "apiKeys"."organizationId"
                  and "userKey"."userId" = + :id
                  and "userKey"."revokedAt" is null
                )
                and (
                  "userKey"."expiresAt" is null
                  or "userKey"."expiresAt" > :now
                )
                and not (
                  (
                    (
                      (
                        "apiKeys"."userId" is null
                        or "apiKeys"."userId" is "userKey"."userId"
                      )
                      and (
                        "apiKeys"."projectIds" is null
                        or (
                          "userKey"."projectIds" is not null
                          and not exists (
                            select
                              1
                            from
                              json_each("userKey"."projectIds")
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
                      "apiKeys"."rotatedAt" is null
                      or "userKey"."id" = "apiKeys"."id"
                    )
                  )
                )
              )
          )
          and exists (
            select
              1
            from
              "deletions"
            where
              (
                "deletions"."organizationId" = "apiKeys"."organizationId"
                and "deletions"."resourceType" = + 'user'
                and "deletions"."resourceId" = + :id
                and "deletions"."deletedAt" = + :now
              )
          )
        )
    )
    and "invitations"."userId" = + :id
  );

-- statements.deletion.recordIdentities
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
  substr(:event.id, 1, 32) || printf('%04x', 16384 + row_number() over () - 1) as "id",
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
  inner join "identities" indexed by "identitiesByUser" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."userId" = + :id
    and "identities"."blockedAt" is null
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
      and "apiKeys"."projectIds" is null
      and not exists (
        select
          1
        from
          "apiKeys" "userKey"
        where
          (
            (
              "userKey"."organizationId" = "apiKeys"."organizationId"
              and "userKey"."userId" = + :id
              and "userKey"."revokedAt" is null
            )
            and (
              "userKey"."expiresAt" is null
              or "userKey"."expiresAt" > :now
            )
            and not (
              (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "userKey"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "userKey"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("userKey"."projectIds")
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
                  "apiKeys"."rotatedAt" is null
                  or "userKey"."id" = "apiKeys"."id"
                )
              )
            )
          )
      )
      and exists (
        select
          1
        from
          "deletions"
        where
          (
            "deletions"."organizationId" = "apiKeys"."organizationId"
            and "deletions"."resourceType" = + 'user'
            and "deletions"."resourceId" = + :id
            and "deletions"."deletedAt" = + :now
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
            and "recorded"."id" = substr(:event.id, 1, 32) || printf('%04x', 16384 + 0)
          )
      )
    )
  );

-- statements.deletion.deleteIdentities
delete from "identities"
where
  ("identities"."organizationId", "identities"."id") in (
    select
      "identities"."organizationId",
      "identities"."id"
    from
      "identities" indexed by "identitiesByUser"
    where
      (
        "identities"."organizationId" = (
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
              and "apiKeys"."projectIds" is null
              and not exists (
                select
                  1
                from
                  "apiKeys" "userKey"
                where
                  (
                    (
                      "userKey"."organizationId" = "apiKeys"."organizationId"
                      and "userKey"."userId" = + :id
                      and "userKey"."revokedAt" is null
                    )
                    and (
                      "userKey"."expiresAt" is null
                      or "userKey"."expiresAt" > :now
                    )
                    and not (
                      (
                        (
                          (
                            "apiKeys"."userId" is null
                            or "apiKeys"."userId" is "userKey"."userId"
                          )
                          and (
                            "apiKeys"."projectIds" is null
                            or (
                              "userKey"."projectIds" is not null
                              and not exists (
                                select
                                  1
                                from
                                  json_each("userKey"."projectIds")
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
                          "apiKeys"."rotatedAt" is null
                          or "userKey"."id" = "apiKeys"."id"
                        )
                      )
                    )
                  )
              )
              and exists (
                select
                  1
                from
                  "deletions"
                where
                  (
                    "deletions"."organizationId" = "apiKeys"."organizationId"
                    and "deletions"."resourceType" = + 'user'
                    and "deletions"."resourceId" = + :id
                    and "deletions"."deletedAt" = + :now
                  )
              )
            )
        )
        and "identities"."userId" = + :id
        and "identities"."blockedAt" is null
      )
  );

-- statements.deletion.recordUserKeys
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
  case "userKey"."kind"
    when 'session' then 'api-key.session-ended'
    when 'grant' then 'api-key.app-disconnected'
    else 'api-key.revoked'
  end as "type",
  "userKey"."id" as "resourceId",
  null as "parentId",
  "userKey"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join "apiKeys" "userKey" on (
    "userKey"."organizationId" = "apiKeys"."organizationId"
    and "userKey"."userId" = + :id
    and "userKey"."revokedAt" is null
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
      and "apiKeys"."projectIds" is null
      and not exists (
        select
          1
        from
          "apiKeys" "userKey"
        where
          (
            (
              "userKey"."organizationId" = "apiKeys"."organizationId"
              and "userKey"."userId" = + :id
              and "userKey"."revokedAt" is null
            )
            and (
              "userKey"."expiresAt" is null
              or "userKey"."expiresAt" > :now
            )
            and not (
              (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "userKey"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "userKey"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("userKey"."projectIds")
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
                  "apiKeys"."rotatedAt" is null
                  or "userKey"."id" = "apiKeys"."id"
                )
              )
            )
          )
      )
      and exists (
        select
          1
        from
          "deletions"
        where
          (
            "deletions"."organizationId" = "apiKeys"."organizationId"
            and "deletions"."resourceType" = + 'user'
            and "deletions"."resourceId" = + :id
            and "deletions"."deletedAt" = + :now
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

-- statements.deletion.revokeUserKeys
update "apiKeys"
set
  "revokedAt" = + :now
where
  (
    "apiKeys"."organizationId" = (
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
          and "apiKeys"."projectIds" is null
          and not exists (
            select
              1
            from
              "apiKeys" "userKey"
            where
              (
                (
                  "userKey"."organizationId" = "apiKeys"."organizationId"
                  and "userKey"."userId" = + :id
                  and "userKey"."revokedAt" is null
                )
                and (
                  "userKey"."expiresAt" is null
                  or "userKey"."expiresAt" > :now
                )
                and not (
                  (
                    (
                      (
                        "apiKeys"."userId" is null
                        or "apiKeys"."userId" is "userKey"."userId"
                      )
                      and (
                        "apiKeys"."projectIds" is null
                        or (
                          "userKey"."projectIds" is not null
                          and not exists (
                            select
                              1
                            from
                              json_each("userKey"."projectIds")
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
                      "apiKeys"."rotatedAt" is null
                      or "userKey"."id" = "apiKeys"."id"
                    )
                  )
                )
              )
          )
          and exists (
            select
              1
            from
              "deletions"
            where
              (
                "deletions"."organizationId" = "apiKeys"."organizationId"
                and "deletions"."resourceType" = + 'user'
                and "deletions"."resourceId" = + :id
                and "deletions"."deletedAt" = + :now
              )
          )
        )
    )
    and "apiKeys"."userId" = + :id
    and "apiKeys"."revokedAt" is null
  );
