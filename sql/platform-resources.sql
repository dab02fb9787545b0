-- src/resources/platform-resources/statements.ts

-- agentStatements.explain
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
  ) as "isLastUsedStale",
  (
    "agents"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  true as "inReach",
  "agents"."id" is null
  or not true as "isDeleted",
  not true as "isFrozen",
  "apiKeys"."projectIds" is null as "isChangeable",
  true as "isRemovable"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = 'agent'
    and "deletions"."resourceId" = :id
  )
where
  "apiKeys"."hash" = :keyHash;

-- agentStatements.explainPut
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
  ) as "isLastUsedStale",
  (
    "agents"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  true as "inReach",
  "agents"."id" is null
  or not true as "isDeleted",
  not true as "isFrozen",
  "apiKeys"."projectIds" is null as "isChangeable",
  true as "isRemovable",
  (
    select
      case
        when "organizationUsage"."agents" + (
          not exists (
            select
              1
            from
              "agents"
            where
              (
                "agents"."organizationId" = "apiKeys"."organizationId"
                and "agents"."id" = :id
              )
          )
        ) > max("organizationUsage"."agents", :agentsQuota) then 'agents'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota"
from
  "apiKeys"
  left join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = 'agent'
    and "deletions"."resourceId" = :id
  )
where
  "apiKeys"."hash" = :keyHash;

-- agentStatements.put
insert into
  "agents" ("organizationId", "id", "name", "archivedAt", "createdAt", "updatedAt")
select
  "organizationId" as "organizationId",
  :id as "id",
  :name as "name",
  null as "archivedAt",
  :now as "createdAt",
  :now as "updatedAt"
from
  "apiKeys"
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and true
    and "apiKeys"."projectIds" is null
    and not exists (
      select
        1
      from
        "deletions"
      where
        (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."resourceType" = 'agent'
          and "deletions"."resourceId" = :id
        )
    )
    and (
      select
        case
          when "organizationUsage"."agents" + (
            not exists (
              select
                1
              from
                "agents"
              where
                (
                  "agents"."organizationId" = "apiKeys"."organizationId"
                  and "agents"."id" = :id
                )
            )
          ) > max("organizationUsage"."agents", :agentsQuota) then 'agents'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
  )
on conflict ("agents"."organizationId", "agents"."id") do update
set
  "name" = excluded."name",
  "updatedAt" = excluded."updatedAt"
returning
  "id",
  "name",
  "archivedAt",
  "createdAt",
  "updatedAt";

-- agentStatements.retrieve
select
  "agents"."id",
  "agents"."name",
  "agents"."archivedAt",
  "agents"."createdAt",
  "agents"."updatedAt"
from
  "apiKeys"
  inner join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = :id
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and true
    and true
  );

-- agentStatements.lists.0
select
  "agents"."id",
  "agents"."name",
  "agents"."archivedAt",
  "agents"."createdAt",
  "agents"."updatedAt"
from
  "apiKeys"
  inner join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" > :cursor
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and true
  )
order by
  "agents"."id" asc
limit
  :rowLimit;

-- agentStatements.removals.0
insert into
  "deletions" ("organizationId", "resourceType", "resourceId", "projectId", "deletedAt", "purgedAt")
select
  "agents"."organizationId" as "organizationId",
  'agent' as "resourceType",
  "agents"."id" as "resourceId",
  null as "projectId",
  :now as "deletedAt",
  null as "purgedAt"
from
  "apiKeys"
  inner join "agents" on (
    "agents"."organizationId" = "apiKeys"."organizationId"
    and "agents"."id" = :id
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and true
    and "apiKeys"."projectIds" is null
    and true
    and true
  );

-- agentStatements.removals.1
delete from "agents"
where
  (
    "agents"."organizationId" = (
      select
        "agents"."organizationId"
      from
        "apiKeys"
        inner join "agents" on (
          "agents"."organizationId" = "apiKeys"."organizationId"
          and "agents"."id" = :id
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and (
              "apiKeys"."revokedAt" is null
              and (
                "apiKeys"."expiresAt" is null
                or "apiKeys"."expiresAt" > :now
              )
            )
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and true
          and "apiKeys"."projectIds" is null
          and true
          and true
        )
    )
    and "agents"."id" = :id
  )
returning
  "id";

-- agentStatements.archive
update "agents"
set
  "archivedAt" = case
    when :archived then coalesce("agents"."archivedAt", :now)
  end,
  "updatedAt" = :now
where
  (
    "agents"."organizationId" = (
      select
        "organizationId"
      from
        "apiKeys"
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and (
              "apiKeys"."revokedAt" is null
              and (
                "apiKeys"."expiresAt" is null
                or "apiKeys"."expiresAt" > :now
              )
            )
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and true
          and "apiKeys"."projectIds" is null
        )
    )
    and "agents"."id" = :id
  )
returning
  "id",
  "name",
  "archivedAt",
  "createdAt",
  "updatedAt";

-- explainListOfProject
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
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
  ) as "inReach"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = :projectId
  )
where
  "apiKeys"."hash" = :keyHash;

-- projectStatements.explain
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
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
  ) as "inReach",
  "projects"."id" is null
  or not true as "isDeleted",
  not true as "isFrozen",
  true as "isChangeable",
  true as "isRemovable"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = 'project'
    and "deletions"."resourceId" = :id
  )
where
  "apiKeys"."hash" = :keyHash;

-- projectStatements.explainPut
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
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
  ) as "inReach",
  "projects"."id" is null
  or not true as "isDeleted",
  not true as "isFrozen",
  true as "isChangeable",
  true as "isRemovable",
  (
    select
      case
        when "organizationUsage"."projects" + (
          not exists (
            select
              1
            from
              "projects"
            where
              (
                "projects"."organizationId" = "apiKeys"."organizationId"
                and "projects"."id" = :id
              )
          )
        ) > max("organizationUsage"."projects", :projectsQuota) then 'projects'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota"
from
  "apiKeys"
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = 'project'
    and "deletions"."resourceId" = :id
  )
where
  "apiKeys"."hash" = :keyHash;

-- projectStatements.put
insert into
  "projects" ("organizationId", "id", "name", "archivedAt", "createdAt", "updatedAt")
select
  "organizationId" as "organizationId",
  :id as "id",
  :name as "name",
  null as "archivedAt",
  :now as "createdAt",
  :now as "updatedAt"
from
  "apiKeys"
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and (
      "apiKeys"."projectIds" is null
      or :id in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
    and not exists (
      select
        1
      from
        "deletions"
      where
        (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."resourceType" = 'project'
          and "deletions"."resourceId" = :id
        )
    )
    and (
      select
        case
          when "organizationUsage"."projects" + (
            not exists (
              select
                1
              from
                "projects"
              where
                (
                  "projects"."organizationId" = "apiKeys"."organizationId"
                  and "projects"."id" = :id
                )
            )
          ) > max("organizationUsage"."projects", :projectsQuota) then 'projects'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
  )
on conflict ("projects"."organizationId", "projects"."id") do update
set
  "name" = excluded."name",
  "updatedAt" = excluded."updatedAt"
returning
  "id",
  "name",
  "archivedAt",
  "createdAt",
  "updatedAt";

-- projectStatements.retrieve
select
  "projects"."id",
  "projects"."name",
  "projects"."archivedAt",
  "projects"."createdAt",
  "projects"."updatedAt"
from
  "apiKeys"
  inner join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = :id
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and (
      "apiKeys"."projectIds" is null
      or :id in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
    and true
  );

-- projectStatements.lists.0
select
  "projects"."id",
  "projects"."name",
  "projects"."archivedAt",
  "projects"."createdAt",
  "projects"."updatedAt"
from
  "apiKeys"
  inner join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" > :cursor
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and "apiKeys"."projectIds" is null
    and true
  )
order by
  "projects"."id" asc
limit
  :rowLimit;

-- projectStatements.lists.1
select
  "projects"."id",
  "projects"."name",
  "projects"."archivedAt",
  "projects"."createdAt",
  "projects"."updatedAt"
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
    "apiKeys"."hash" = :keyHash
    and (
      "apiKeys"."revokedAt" is null
      and (
        "apiKeys"."expiresAt" is null
        or "apiKeys"."expiresAt" > :now
      )
    )
    and (
      :scope is null
      or instr("apiKeys"."scopes", json_quote(:scope)) > 0
    )
  )
order by
  "projects"."id" asc
limit
  :rowLimit;

-- projectStatements.removals.0
insert into
  "deletions" ("organizationId", "resourceType", "resourceId", "projectId", "deletedAt", "purgedAt")
select
  "projects"."organizationId" as "organizationId",
  'project' as "resourceType",
  "projects"."id" as "resourceId",
  null as "projectId",
  :now as "deletedAt",
  null as "purgedAt"
from
  "apiKeys"
  inner join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = :id
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and (
      "apiKeys"."projectIds" is null
      or :id in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
    and true
    and true
  );

-- projectStatements.removals.1
delete from "projects"
where
  (
    "projects"."organizationId" = (
      select
        "projects"."organizationId"
      from
        "apiKeys"
        inner join "projects" on (
          "projects"."organizationId" = "apiKeys"."organizationId"
          and "projects"."id" = :id
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and (
              "apiKeys"."revokedAt" is null
              and (
                "apiKeys"."expiresAt" is null
                or "apiKeys"."expiresAt" > :now
              )
            )
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and (
            "apiKeys"."projectIds" is null
            or :id in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
          and true
          and true
        )
    )
    and "projects"."id" = :id
  )
returning
  "id";

-- projectStatements.archive
update "projects"
set
  "archivedAt" = case
    when :archived then coalesce("projects"."archivedAt", :now)
  end,
  "updatedAt" = :now
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
            "apiKeys"."hash" = :keyHash
            and (
              "apiKeys"."revokedAt" is null
              and (
                "apiKeys"."expiresAt" is null
                or "apiKeys"."expiresAt" > :now
              )
            )
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and (
            "apiKeys"."projectIds" is null
            or :id in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
        )
    )
    and "projects"."id" = :id
  )
returning
  "id",
  "name",
  "archivedAt",
  "createdAt",
  "updatedAt";

-- pullRequestStatements.explain
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
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
  ) as "inReach",
  "pullRequests"."id" is null
  or not exists (
    select
      1
    from
      "projects"
    where
      (
        "projects"."organizationId" = "pullRequests"."organizationId"
        and "projects"."id" = "pullRequests"."projectId"
      )
  ) as "isDeleted",
  not exists (
    select
      1
    from
      "projects"
    where
      (
        "projects"."organizationId" = "pullRequests"."organizationId"
        and "projects"."id" = "pullRequests"."projectId"
        and "projects"."archivedAt" is null
      )
  ) as "isFrozen",
  true as "isChangeable",
  true as "isRemovable"
from
  "apiKeys"
  left join "pullRequests" on (
    "pullRequests"."organizationId" = "apiKeys"."organizationId"
    and "pullRequests"."id" = :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = 'pull_request'
    and "deletions"."resourceId" = :id
  )
where
  "apiKeys"."hash" = :keyHash;

-- pullRequestStatements.explainPut
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
  ) as "isLastUsedStale",
  (
    "pullRequests"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  )
  and (
    not (
      (
        "pullRequests"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    or (
      "apiKeys"."projectIds" is null
      or coalesce("pullRequests"."projectId", "deletions"."projectId") in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
  ) as "inReach",
  "pullRequests"."id" is null
  or not exists (
    select
      1
    from
      "projects"
    where
      (
        "projects"."organizationId" = "pullRequests"."organizationId"
        and "projects"."id" = "pullRequests"."projectId"
      )
  ) as "isDeleted",
  "projects"."archivedAt" is not null as "isFrozen",
  true as "isChangeable",
  true as "isRemovable",
  (
    select
      case
        when "organizationUsage"."pullRequests" + (
          not exists (
            select
              1
            from
              "pullRequests"
            where
              (
                "pullRequests"."organizationId" = "apiKeys"."organizationId"
                and "pullRequests"."id" = :id
              )
          )
        ) > max("organizationUsage"."pullRequests", :pullRequestsQuota) then 'pullRequests'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  "projects"."id" is not null as "projectExists",
  "pullRequests"."projectId" <> :projectId as "isElsewhere"
from
  "apiKeys"
  left join "pullRequests" on (
    "pullRequests"."organizationId" = "apiKeys"."organizationId"
    and "pullRequests"."id" = :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = 'pull_request'
    and "deletions"."resourceId" = :id
  )
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = :projectId
  )
where
  "apiKeys"."hash" = :keyHash;

-- pullRequestStatements.put
insert into
  "pullRequests" ("organizationId", "id", "projectId", "name", "createdAt", "updatedAt")
select
  "organizationId" as "organizationId",
  :id as "id",
  :projectId as "projectId",
  :name as "name",
  :now as "createdAt",
  :now as "updatedAt"
from
  "apiKeys"
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and exists (
      select
        1
      from
        "projects"
      where
        (
          (
            "projects"."organizationId" = "apiKeys"."organizationId"
            and "projects"."id" = :projectId
          )
          and (
            "apiKeys"."projectIds" is null
            or "projects"."id" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
          and "projects"."archivedAt" is null
        )
    )
    and not exists (
      select
        1
      from
        "deletions"
      where
        (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."resourceType" = 'pull_request'
          and "deletions"."resourceId" = :id
        )
    )
    and (
      select
        case
          when "organizationUsage"."pullRequests" + (
            not exists (
              select
                1
              from
                "pullRequests"
              where
                (
                  "pullRequests"."organizationId" = "apiKeys"."organizationId"
                  and "pullRequests"."id" = :id
                )
            )
          ) > max("organizationUsage"."pullRequests", :pullRequestsQuota) then 'pullRequests'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
  )
on conflict ("pullRequests"."organizationId", "pullRequests"."id") do update
set
  "name" = excluded."name",
  "updatedAt" = excluded."updatedAt"
where
  "pullRequests"."projectId" = excluded."projectId"
returning
  "id",
  "projectId",
  "name",
  "createdAt",
  "updatedAt";

-- pullRequestStatements.retrieve
select
  "pullRequests"."id",
  "pullRequests"."projectId",
  "pullRequests"."name",
  "pullRequests"."createdAt",
  "pullRequests"."updatedAt"
from
  "apiKeys"
  inner join "pullRequests" on (
    "pullRequests"."organizationId" = "apiKeys"."organizationId"
    and "pullRequests"."id" = :id
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and (
      "apiKeys"."projectIds" is null
      or "pullRequests"."projectId" in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
    and exists (
      select
        1
      from
        "projects"
      where
        (
          "projects"."organizationId" = "pullRequests"."organizationId"
          and "projects"."id" = "pullRequests"."projectId"
        )
    )
  );

-- pullRequestStatements.lists.0
select
  "pullRequests"."id",
  "pullRequests"."projectId",
  "pullRequests"."name",
  "pullRequests"."createdAt",
  "pullRequests"."updatedAt"
from
  "apiKeys"
  inner join "pullRequests" on (
    "pullRequests"."organizationId" = "apiKeys"."organizationId"
    and "pullRequests"."id" > :cursor
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and "apiKeys"."projectIds" is null
    and exists (
      select
        1
      from
        "projects"
      where
        (
          "projects"."organizationId" = "pullRequests"."organizationId"
          and "projects"."id" = "pullRequests"."projectId"
        )
    )
  )
order by
  "pullRequests"."id" asc
limit
  :rowLimit;

-- pullRequestStatements.removals.0
insert into
  "deletions" ("organizationId", "resourceType", "resourceId", "projectId", "deletedAt", "purgedAt")
select
  "pullRequests"."organizationId" as "organizationId",
  'pull_request' as "resourceType",
  "pullRequests"."id" as "resourceId",
  "pullRequests"."projectId" as "projectId",
  :now as "deletedAt",
  null as "purgedAt"
from
  "apiKeys"
  inner join "pullRequests" on (
    "pullRequests"."organizationId" = "apiKeys"."organizationId"
    and "pullRequests"."id" = :id
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and (
      "apiKeys"."projectIds" is null
      or "pullRequests"."projectId" in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
    and true
    and exists (
      select
        1
      from
        "projects"
      where
        (
          "projects"."organizationId" = "pullRequests"."organizationId"
          and "projects"."id" = "pullRequests"."projectId"
          and "projects"."archivedAt" is null
        )
    )
  );

-- pullRequestStatements.removals.1
delete from "pullRequests"
where
  (
    "pullRequests"."organizationId" = (
      select
        "pullRequests"."organizationId"
      from
        "apiKeys"
        inner join "pullRequests" on (
          "pullRequests"."organizationId" = "apiKeys"."organizationId"
          and "pullRequests"."id" = :id
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and (
              "apiKeys"."revokedAt" is null
              and (
                "apiKeys"."expiresAt" is null
                or "apiKeys"."expiresAt" > :now
              )
            )
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and (
            "apiKeys"."projectIds" is null
            or "pullRequests"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
          and true
          and exists (
            select
              1
            from
              "projects"
            where
              (
                "projects"."organizationId" = "pullRequests"."organizationId"
                and "projects"."id" = "pullRequests"."projectId"
                and "projects"."archivedAt" is null
              )
          )
        )
    )
    and "pullRequests"."id" = :id
  )
returning
  "id";

-- pullRequestStatements.listOfProject
select
  "id",
  "projectId",
  "name",
  "createdAt",
  "updatedAt"
from
  "pullRequests"
where
  (
    "pullRequests"."organizationId" = (
      select
        "projects"."organizationId"
      from
        "apiKeys"
        inner join "projects" on (
          "projects"."organizationId" = "apiKeys"."organizationId"
          and "projects"."id" = :projectId
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and (
              "apiKeys"."revokedAt" is null
              and (
                "apiKeys"."expiresAt" is null
                or "apiKeys"."expiresAt" > :now
              )
            )
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and (
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
    and "pullRequests"."projectId" = :projectId
    and "pullRequests"."id" > :cursor
  )
order by
  "pullRequests"."id" asc
limit
  :rowLimit;

-- revokeUserKeys
update "apiKeys"
set
  "revokedAt" = :now
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
            "apiKeys"."hash" = :keyHash
            and (
              "apiKeys"."revokedAt" is null
              and (
                "apiKeys"."expiresAt" is null
                or "apiKeys"."expiresAt" > :now
              )
            )
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
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
                  and "userKey"."userId" = :id
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
                and "deletions"."resourceType" = 'user'
                and "deletions"."resourceId" = :id
                and "deletions"."deletedAt" = :now
              )
          )
        )
    )
    and "apiKeys"."userId" = :id
    and "apiKeys"."revokedAt" is null
  );

-- sessionStatements.explain
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
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
  ) as "inReach",
  "sessions"."id" is null
  or not exists (
    select
      1
    from
      "projects"
    where
      (
        "projects"."organizationId" = "sessions"."organizationId"
        and "projects"."id" = "sessions"."projectId"
      )
  ) as "isDeleted",
  not exists (
    select
      1
    from
      "projects"
    where
      (
        "projects"."organizationId" = "sessions"."organizationId"
        and "projects"."id" = "sessions"."projectId"
        and "projects"."archivedAt" is null
      )
  ) as "isFrozen",
  true as "isChangeable",
  true as "isRemovable"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = 'session'
    and "deletions"."resourceId" = :id
  )
where
  "apiKeys"."hash" = :keyHash;

-- sessionStatements.explainPut
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
  ) as "isLastUsedStale",
  (
    "sessions"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  (
    "apiKeys"."projectIds" is null
    or "projects"."id" in (
      select
        value
      from
        json_each("apiKeys"."projectIds")
    )
  )
  and (
    not (
      (
        "sessions"."id" is not null
        or "deletions"."resourceId" is not null
      )
    )
    or (
      "apiKeys"."projectIds" is null
      or coalesce("sessions"."projectId", "deletions"."projectId") in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
  ) as "inReach",
  "sessions"."id" is null
  or not exists (
    select
      1
    from
      "projects"
    where
      (
        "projects"."organizationId" = "sessions"."organizationId"
        and "projects"."id" = "sessions"."projectId"
      )
  ) as "isDeleted",
  "projects"."archivedAt" is not null as "isFrozen",
  true as "isChangeable",
  true as "isRemovable",
  (
    select
      case
        when "organizationUsage"."sessions" + (
          not exists (
            select
              1
            from
              "sessions"
            where
              (
                "sessions"."organizationId" = "apiKeys"."organizationId"
                and "sessions"."id" = :id
              )
          )
        ) > max("organizationUsage"."sessions", :sessionsQuota) then 'sessions'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  "projects"."id" is not null as "projectExists",
  "sessions"."projectId" <> :projectId as "isElsewhere"
from
  "apiKeys"
  left join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = 'session'
    and "deletions"."resourceId" = :id
  )
  left join "projects" on (
    "projects"."organizationId" = "apiKeys"."organizationId"
    and "projects"."id" = :projectId
  )
where
  "apiKeys"."hash" = :keyHash;

-- sessionStatements.put
insert into
  "sessions" ("organizationId", "id", "projectId", "name", "createdAt", "updatedAt")
select
  "organizationId" as "organizationId",
  :id as "id",
  :projectId as "projectId",
  :name as "name",
  :now as "createdAt",
  :now as "updatedAt"
from
  "apiKeys"
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and exists (
      select
        1
      from
        "projects"
      where
        (
          (
            "projects"."organizationId" = "apiKeys"."organizationId"
            and "projects"."id" = :projectId
          )
          and (
            "apiKeys"."projectIds" is null
            or "projects"."id" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
          and "projects"."archivedAt" is null
        )
    )
    and not exists (
      select
        1
      from
        "deletions"
      where
        (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."resourceType" = 'session'
          and "deletions"."resourceId" = :id
        )
    )
    and (
      select
        case
          when "organizationUsage"."sessions" + (
            not exists (
              select
                1
              from
                "sessions"
              where
                (
                  "sessions"."organizationId" = "apiKeys"."organizationId"
                  and "sessions"."id" = :id
                )
            )
          ) > max("organizationUsage"."sessions", :sessionsQuota) then 'sessions'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
  )
on conflict ("sessions"."organizationId", "sessions"."id") do update
set
  "name" = excluded."name",
  "updatedAt" = excluded."updatedAt"
where
  "sessions"."projectId" = excluded."projectId"
returning
  "id",
  "projectId",
  "name",
  "createdAt",
  "updatedAt";

-- sessionStatements.retrieve
select
  "sessions"."id",
  "sessions"."projectId",
  "sessions"."name",
  "sessions"."createdAt",
  "sessions"."updatedAt"
from
  "apiKeys"
  inner join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = :id
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and (
      "apiKeys"."projectIds" is null
      or "sessions"."projectId" in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
    and exists (
      select
        1
      from
        "projects"
      where
        (
          "projects"."organizationId" = "sessions"."organizationId"
          and "projects"."id" = "sessions"."projectId"
        )
    )
  );

-- sessionStatements.lists.0
select
  "sessions"."id",
  "sessions"."projectId",
  "sessions"."name",
  "sessions"."createdAt",
  "sessions"."updatedAt"
from
  "apiKeys"
  inner join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" > :cursor
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and "apiKeys"."projectIds" is null
    and exists (
      select
        1
      from
        "projects"
      where
        (
          "projects"."organizationId" = "sessions"."organizationId"
          and "projects"."id" = "sessions"."projectId"
        )
    )
  )
order by
  "sessions"."id" asc
limit
  :rowLimit;

-- sessionStatements.removals.0
insert into
  "deletions" ("organizationId", "resourceType", "resourceId", "projectId", "deletedAt", "purgedAt")
select
  "sessions"."organizationId" as "organizationId",
  'session' as "resourceType",
  "sessions"."id" as "resourceId",
  "sessions"."projectId" as "projectId",
  :now as "deletedAt",
  null as "purgedAt"
from
  "apiKeys"
  inner join "sessions" on (
    "sessions"."organizationId" = "apiKeys"."organizationId"
    and "sessions"."id" = :id
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and (
      "apiKeys"."projectIds" is null
      or "sessions"."projectId" in (
        select
          value
        from
          json_each("apiKeys"."projectIds")
      )
    )
    and true
    and exists (
      select
        1
      from
        "projects"
      where
        (
          "projects"."organizationId" = "sessions"."organizationId"
          and "projects"."id" = "sessions"."projectId"
          and "projects"."archivedAt" is null
        )
    )
  );

-- sessionStatements.removals.1
delete from "sessions"
where
  (
    "sessions"."organizationId" = (
      select
        "sessions"."organizationId"
      from
        "apiKeys"
        inner join "sessions" on (
          "sessions"."organizationId" = "apiKeys"."organizationId"
          and "sessions"."id" = :id
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and (
              "apiKeys"."revokedAt" is null
              and (
                "apiKeys"."expiresAt" is null
                or "apiKeys"."expiresAt" > :now
              )
            )
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and (
            "apiKeys"."projectIds" is null
            or "sessions"."projectId" in (
              select
                value
              from
                json_each("apiKeys"."projectIds")
            )
          )
          and true
          and exists (
            select
              1
            from
              "projects"
            where
              (
                "projects"."organizationId" = "sessions"."organizationId"
                and "projects"."id" = "sessions"."projectId"
                and "projects"."archivedAt" is null
              )
          )
        )
    )
    and "sessions"."id" = :id
  )
returning
  "id";

-- sessionStatements.listOfProject
select
  "id",
  "projectId",
  "name",
  "createdAt",
  "updatedAt"
from
  "sessions"
where
  (
    "sessions"."organizationId" = (
      select
        "projects"."organizationId"
      from
        "apiKeys"
        inner join "projects" on (
          "projects"."organizationId" = "apiKeys"."organizationId"
          and "projects"."id" = :projectId
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and (
              "apiKeys"."revokedAt" is null
              and (
                "apiKeys"."expiresAt" is null
                or "apiKeys"."expiresAt" > :now
              )
            )
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and (
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
    and "sessions"."projectId" = :projectId
    and "sessions"."id" > :cursor
  )
order by
  "sessions"."id" asc
limit
  :rowLimit;

-- userStatements.explain
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
  ) as "isLastUsedStale",
  (
    "users"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  true as "inReach",
  "users"."id" is null
  or not true as "isDeleted",
  not true as "isFrozen",
  "apiKeys"."projectIds" is null as "isChangeable",
  not exists (
    select
      1
    from
      "apiKeys" "userKey"
    where
      (
        (
          "userKey"."organizationId" = "apiKeys"."organizationId"
          and "userKey"."userId" = :id
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
  ) as "isRemovable"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = 'user'
    and "deletions"."resourceId" = :id
  )
where
  "apiKeys"."hash" = :keyHash;

-- userStatements.explainPut
select
  (
    "apiKeys"."revokedAt" is null
    and (
      "apiKeys"."expiresAt" is null
      or "apiKeys"."expiresAt" > :now
    )
  ) as "isLive",
  (
    :scope is null
    or instr("apiKeys"."scopes", json_quote(:scope)) > 0
  ) as "isInScope",
  "apiKeys"."organizationId" as "callerOrganizationId",
  "apiKeys"."userId" as "callerUserId",
  (
    "apiKeys"."lastUsedAt" is null
    or "apiKeys"."lastUsedAt" <= :hourAgo
  ) as "isLastUsedStale",
  (
    "users"."id" is not null
    or "deletions"."resourceId" is not null
  ) as "exists",
  true as "inReach",
  "users"."id" is null
  or not true as "isDeleted",
  not true as "isFrozen",
  "apiKeys"."projectIds" is null as "isChangeable",
  not exists (
    select
      1
    from
      "apiKeys" "userKey"
    where
      (
        (
          "userKey"."organizationId" = "apiKeys"."organizationId"
          and "userKey"."userId" = :id
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
  ) as "isRemovable",
  (
    select
      case
        when "organizationUsage"."users" + (
          not exists (
            select
              1
            from
              "users"
            where
              (
                "users"."organizationId" = "apiKeys"."organizationId"
                and "users"."id" = :id
              )
          )
        ) > max("organizationUsage"."users", :usersQuota) then 'users'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota"
from
  "apiKeys"
  left join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = :id
  )
  left join "deletions" on (
    "deletions"."organizationId" = "apiKeys"."organizationId"
    and "deletions"."resourceType" = 'user'
    and "deletions"."resourceId" = :id
  )
where
  "apiKeys"."hash" = :keyHash;

-- userStatements.put
insert into
  "users" ("organizationId", "id", "name", "createdAt", "updatedAt")
select
  "organizationId" as "organizationId",
  :id as "id",
  :name as "name",
  :now as "createdAt",
  :now as "updatedAt"
from
  "apiKeys"
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and true
    and "apiKeys"."projectIds" is null
    and not exists (
      select
        1
      from
        "deletions"
      where
        (
          "deletions"."organizationId" = "apiKeys"."organizationId"
          and "deletions"."resourceType" = 'user'
          and "deletions"."resourceId" = :id
        )
    )
    and (
      select
        case
          when "organizationUsage"."users" + (
            not exists (
              select
                1
              from
                "users"
              where
                (
                  "users"."organizationId" = "apiKeys"."organizationId"
                  and "users"."id" = :id
                )
            )
          ) > max("organizationUsage"."users", :usersQuota) then 'users'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
  )
on conflict ("users"."organizationId", "users"."id") do update
set
  "name" = excluded."name",
  "updatedAt" = excluded."updatedAt"
returning
  "id",
  "name",
  "createdAt",
  "updatedAt";

-- userStatements.retrieve
select
  "users"."id",
  "users"."name",
  "users"."createdAt",
  "users"."updatedAt"
from
  "apiKeys"
  inner join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = :id
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and true
    and true
  );

-- userStatements.lists.0
select
  "users"."id",
  "users"."name",
  "users"."createdAt",
  "users"."updatedAt"
from
  "apiKeys"
  inner join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" > :cursor
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and true
  )
order by
  "users"."id" asc
limit
  :rowLimit;

-- userStatements.removals.0
insert into
  "deletions" ("organizationId", "resourceType", "resourceId", "projectId", "deletedAt", "purgedAt")
select
  "users"."organizationId" as "organizationId",
  'user' as "resourceType",
  "users"."id" as "resourceId",
  null as "projectId",
  :now as "deletedAt",
  null as "purgedAt"
from
  "apiKeys"
  inner join "users" on (
    "users"."organizationId" = "apiKeys"."organizationId"
    and "users"."id" = :id
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and true
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
            and "userKey"."userId" = :id
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
    and true
  );

-- userStatements.removals.1
delete from "users"
where
  (
    "users"."organizationId" = (
      select
        "users"."organizationId"
      from
        "apiKeys"
        inner join "users" on (
          "users"."organizationId" = "apiKeys"."organizationId"
          and "users"."id" = :id
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and (
              "apiKeys"."revokedAt" is null
              and (
                "apiKeys"."expiresAt" is null
                or "apiKeys"."expiresAt" > :now
              )
            )
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and true
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
                  and "userKey"."userId" = :id
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
          and true
        )
    )
    and "users"."id" = :id
  )
returning
  "id";

-- userStatements.removals.2
insert into
  "auditEvents" ("organizationId", "id", "operation", "target", "apiKeyId", "userId", "requestId", "createdAt")
select
  "apiKeys"."organizationId" as "organizationId",
  substr(:auditEventId, 1, 24) || lower(hex(randomblob(6))) as "id",
  :operation as "operation",
  '/v1/api-keys/' || "userKey"."id" as "target",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."userId" as "userId",
  :requestId as "requestId",
  :now as "createdAt"
from
  "apiKeys"
  inner join "apiKeys" "userKey" on (
    "userKey"."organizationId" = "apiKeys"."organizationId"
    and "userKey"."userId" = :id
    and "userKey"."revokedAt" is null
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and (
        "apiKeys"."revokedAt" is null
        and (
          "apiKeys"."expiresAt" is null
          or "apiKeys"."expiresAt" > :now
        )
      )
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
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
            and "userKey"."userId" = :id
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
          and "deletions"."resourceType" = 'user'
          and "deletions"."resourceId" = :id
          and "deletions"."deletedAt" = :now
        )
    )
  );

-- userStatements.removals.3
update "apiKeys"
set
  "revokedAt" = :now
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
            "apiKeys"."hash" = :keyHash
            and (
              "apiKeys"."revokedAt" is null
              and (
                "apiKeys"."expiresAt" is null
                or "apiKeys"."expiresAt" > :now
              )
            )
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
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
                  and "userKey"."userId" = :id
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
                and "deletions"."resourceType" = 'user'
                and "deletions"."resourceId" = :id
                and "deletions"."deletedAt" = :now
              )
          )
        )
    )
    and "apiKeys"."userId" = :id
    and "apiKeys"."revokedAt" is null
  );
