-- src/resources/skills/statements.ts

-- creatable.check
select
  case
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
  end as "keyEnd",
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
  "repeated"."id" is null as "isFirstRequest",
  (
    select
      case
        when "organizationUsage"."skills" + (1) > max("organizationUsage"."skills", :skillsQuota) then 'skills'
        when "organizationUsage"."skillBytes" + (:sizeBytes) > max("organizationUsage"."skillBytes", :skillBytesQuota) then 'skillBytes'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  not exists (
    select
      "id"
    from
      "skills" "other"
    where
      (
        "other"."organizationId" = "apiKeys"."organizationId"
        and "other"."name" = :name
        and "other"."id" <> :skillId
      )
  ) as "nameIsFree"
from
  "apiKeys"
  left join "skills" "repeated" on (
    "repeated"."organizationId" = "apiKeys"."organizationId"
    and "repeated"."idempotencyKey" = :idempotencyKey
  )
where
  "apiKeys"."hash" = :keyHash;

-- deletable.check
select
  case
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
  end as "keyEnd",
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
  "skills"."id" is not null as "skillExists",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "skills"."revision" is not null
  )
  or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = :skillId
  )
where
  "apiKeys"."hash" = :keyHash;

-- deleteFiles
delete from "skillFiles"
where
  (
    "skillFiles"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "skills" on (
          "skills"."organizationId" = "apiKeys"."organizationId"
          and "skills"."id" = :skillId
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and case
              when "apiKeys"."revokedAt" is not null then 'revoked'
              when "apiKeys"."expiresAt" <= :now then 'expired'
            end is null
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and ("skills"."id" is not null)
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "skills"."revision" is not null
            )
            or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0
          )
        )
    )
    and "skillFiles"."skillId" = :skillId
  );

-- deleteOtherFiles
delete from "skillFiles"
where
  (
    "skillFiles"."organizationId" = (
      select
        "skills"."organizationId"
      from
        "apiKeys"
        inner join "skills" on (
          (
            "skills"."organizationId" = "apiKeys"."organizationId"
            and "skills"."id" = :skillId
          )
          and "skills"."revision" = :revision
        )
      where
        (
          "apiKeys"."hash" = :keyHash
          and case
            when "apiKeys"."revokedAt" is not null then 'revoked'
            when "apiKeys"."expiresAt" <= :now then 'expired'
          end is null
          and (
            :scope is null
            or instr("apiKeys"."scopes", json_quote(:scope)) > 0
          )
        )
    )
    and "skillFiles"."skillId" = :skillId
    and "skillFiles"."filename" not in (
      select
        value
      from
        json_each(:filenames)
    )
  );

-- deleteSkill
delete from "skills"
where
  (
    "skills"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "skills" on (
          "skills"."organizationId" = "apiKeys"."organizationId"
          and "skills"."id" = :skillId
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and case
              when "apiKeys"."revokedAt" is not null then 'revoked'
              when "apiKeys"."expiresAt" <= :now then 'expired'
            end is null
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and ("skills"."id" is not null)
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "skills"."revision" is not null
            )
            or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0
          )
        )
    )
    and "skills"."id" = :skillId
  )
returning
  "id";

-- insertSkill
insert into
  "skills" (
    "organizationId",
    "id",
    "name",
    "description",
    "revision",
    "createdAt",
    "updatedAt",
    "idempotencyKey",
    "idempotencyFingerprint"
  )
select
  "apiKeys"."organizationId" as "organizationId",
  :skillId as "id",
  :name as "name",
  :description as "description",
  :revision as "revision",
  :now as "createdAt",
  :now as "updatedAt",
  :idempotencyKey as "idempotencyKey",
  :idempotencyFingerprint as "idempotencyFingerprint"
from
  "apiKeys"
  left join "skills" "repeated" on (
    "repeated"."organizationId" = "apiKeys"."organizationId"
    and "repeated"."idempotencyKey" = :idempotencyKey
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and case
        when "apiKeys"."revokedAt" is not null then 'revoked'
        when "apiKeys"."expiresAt" <= :now then 'expired'
      end is null
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and ("repeated"."id" is null)
    and (
      select
        case
          when "organizationUsage"."skills" + (1) > max("organizationUsage"."skills", :skillsQuota) then 'skills'
          when "organizationUsage"."skillBytes" + (:sizeBytes) > max("organizationUsage"."skillBytes", :skillBytesQuota) then 'skillBytes'
        end
      from
        "organizationUsage"
      where
        "organizationUsage"."organizationId" = "apiKeys"."organizationId"
    ) is null
    and (
      not exists (
        select
          "id"
        from
          "skills" "other"
        where
          (
            "other"."organizationId" = "apiKeys"."organizationId"
            and "other"."name" = :name
            and "other"."id" <> :skillId
          )
      )
    )
  );

-- putFiles
insert into
  "skillFiles" ("organizationId", "skillId", "filename", "id", "content")
select
  "skills"."organizationId" as "organizationId",
  "skills"."id" as "skillId",
  "chunk"."column2" as "filename",
  "chunk"."column1" as "id",
  "chunk"."column3" as "content"
from
  "apiKeys"
  inner join "skills" on (
    (
      "skills"."organizationId" = "apiKeys"."organizationId"
      and "skills"."id" = :skillId
    )
    and "skills"."revision" = :revision
  )
  inner join (
    values
      (:chunk .0.id, :chunk .0.filename, :chunk .0.content),
      (:chunk .1.id, :chunk .1.filename, :chunk .1.content),
      (:chunk .2.id, :chunk .2.filename, :chunk .2.content),
      (:chunk .3.id, :chunk .3.filename, :chunk .3.content),
      (:chunk .4.id, :chunk .4.filename, :chunk .4.content),
      (:chunk .5.id, :chunk .5.filename, :chunk .5.content),
      (:chunk .6.id, :chunk .6.filename, :chunk .6.content),
      (:chunk .7.id, :chunk .7.filename, :chunk .7.content),
      (:chunk .8.id, :chunk .8.filename, :chunk .8.content),
      (:chunk .9.id, :chunk .9.filename, :chunk .9.content),
      (:chunk .10.id, :chunk .10.filename, :chunk .10.content),
      (:chunk .11.id, :chunk .11.filename, :chunk .11.content),
      (:chunk .12.id, :chunk .12.filename, :chunk .12.content),
      (:chunk .13.id, :chunk .13.filename, :chunk .13.content),
      (:chunk .14.id, :chunk .14.filename, :chunk .14.content),
      (:chunk .15.id, :chunk .15.filename, :chunk .15.content),
      (:chunk .16.id, :chunk .16.filename, :chunk .16.content),
      (:chunk .17.id, :chunk .17.filename, :chunk .17.content),
      (:chunk .18.id, :chunk .18.filename, :chunk .18.content),
      (:chunk .19.id, :chunk .19.filename, :chunk .19.content),
      (:chunk .20.id, :chunk .20.filename, :chunk .20.content),
      (:chunk .21.id, :chunk .21.filename, :chunk .21.content),
      (:chunk .22.id, :chunk .22.filename, :chunk .22.content),
      (:chunk .23.id, :chunk .23.filename, :chunk .23.content),
      (:chunk .24.id, :chunk .24.filename, :chunk .24.content)
  ) as "chunk" on "chunk"."column2" is not null
where
  (
    "apiKeys"."hash" = :keyHash
    and case
      when "apiKeys"."revokedAt" is not null then 'revoked'
      when "apiKeys"."expiresAt" <= :now then 'expired'
    end is null
    and (
      :scope is null
      or instr("apiKeys"."scopes", json_quote(:scope)) > 0
    )
  )
on conflict ("skillFiles"."organizationId", "skillFiles"."skillId", "skillFiles"."filename") do update
set
  "content" = excluded."content"
where
  "skillFiles"."content" <> excluded."content";

-- readable.check
select
  case
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
  end as "keyEnd",
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
  "skills"."id" is not null as "skillExists"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = :skillId
  )
where
  "apiKeys"."hash" = :keyHash;

-- selectCreated
select
  "skills"."id",
  "skills"."name",
  "skills"."description",
  "skills"."createdAt",
  "skills"."updatedAt",
  "skills"."revision"
from
  "apiKeys"
  inner join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = coalesce(
      (
        select
          "id"
        from
          "skills" "repeated"
        where
          (
            "repeated"."organizationId" = "apiKeys"."organizationId"
            and "repeated"."idempotencyKey" = :idempotencyKey
          )
      ),
      :skillId
    )
    and (
      "skills"."idempotencyKey" is null
      or "skills"."idempotencyFingerprint" = :idempotencyFingerprint
    )
  )
where
  (
    "apiKeys"."hash" = :keyHash
    and case
      when "apiKeys"."revokedAt" is not null then 'revoked'
      when "apiKeys"."expiresAt" <= :now then 'expired'
    end is null
    and (
      :scope is null
      or instr("apiKeys"."scopes", json_quote(:scope)) > 0
    )
  );

-- selectCreatedFiles
select
  "skillFiles"."id",
  "skillFiles"."filename",
  "skillFiles"."content"
from
  "apiKeys"
  inner join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = coalesce(
      (
        select
          "id"
        from
          "skills" "repeated"
        where
          (
            "repeated"."organizationId" = "apiKeys"."organizationId"
            and "repeated"."idempotencyKey" = :idempotencyKey
          )
      ),
      :skillId
    )
    and (
      "skills"."idempotencyKey" is null
      or "skills"."idempotencyFingerprint" = :idempotencyFingerprint
    )
  )
  inner join "skillFiles" on (
    "skillFiles"."organizationId" = "skills"."organizationId"
    and "skillFiles"."skillId" = "skills"."id"
  )
where
  (
    "apiKeys"."hash" = :keyHash
    and case
      when "apiKeys"."revokedAt" is not null then 'revoked'
      when "apiKeys"."expiresAt" <= :now then 'expired'
    end is null
    and (
      :scope is null
      or instr("apiKeys"."scopes", json_quote(:scope)) > 0
    )
  )
order by
  "skillFiles"."filename" asc;

-- selectSkill
select
  "skills"."id",
  "skills"."name",
  "skills"."description",
  "skills"."createdAt",
  "skills"."updatedAt",
  "skills"."revision"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = :skillId
  )
where
  (
    (
      "apiKeys"."hash" = :keyHash
      and case
        when "apiKeys"."revokedAt" is not null then 'revoked'
        when "apiKeys"."expiresAt" <= :now then 'expired'
      end is null
      and (
        :scope is null
        or instr("apiKeys"."scopes", json_quote(:scope)) > 0
      )
    )
    and ("skills"."id" is not null)
  );

-- selectSkillByName
select
  "skills"."id",
  "skills"."name",
  "skills"."description",
  "skills"."createdAt",
  "skills"."updatedAt"
from
  "apiKeys"
  inner join "skills" on (
    (
      "skills"."organizationId" = "apiKeys"."organizationId"
      and "skills"."id" > :cursor
    )
    and "skills"."name" = :name
  )
where
  (
    "apiKeys"."hash" = :keyHash
    and case
      when "apiKeys"."revokedAt" is not null then 'revoked'
      when "apiKeys"."expiresAt" <= :now then 'expired'
    end is null
    and (
      :scope is null
      or instr("apiKeys"."scopes", json_quote(:scope)) > 0
    )
  );

-- selectSkillFiles
select
  "skillFiles"."id",
  "skillFiles"."filename",
  "skillFiles"."content"
from
  "apiKeys"
  inner join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = :skillId
  )
  inner join "skillFiles" on (
    "skillFiles"."organizationId" = "skills"."organizationId"
    and "skillFiles"."skillId" = "skills"."id"
  )
where
  (
    "apiKeys"."hash" = :keyHash
    and case
      when "apiKeys"."revokedAt" is not null then 'revoked'
      when "apiKeys"."expiresAt" <= :now then 'expired'
    end is null
    and (
      :scope is null
      or instr("apiKeys"."scopes", json_quote(:scope)) > 0
    )
  )
order by
  "skillFiles"."filename" asc;

-- selectSkills
select
  "skills"."id",
  "skills"."name",
  "skills"."description",
  "skills"."createdAt",
  "skills"."updatedAt"
from
  "apiKeys"
  inner join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" > :cursor
  )
where
  (
    "apiKeys"."hash" = :keyHash
    and case
      when "apiKeys"."revokedAt" is not null then 'revoked'
      when "apiKeys"."expiresAt" <= :now then 'expired'
    end is null
    and (
      :scope is null
      or instr("apiKeys"."scopes", json_quote(:scope)) > 0
    )
  )
order by
  "skills"."id" asc
limit
  + :rowLimit;

-- selectUpdatedFiles
select
  "skillFiles"."id",
  "skillFiles"."filename",
  "skillFiles"."content"
from
  "apiKeys"
  inner join "skills" on (
    (
      "skills"."organizationId" = "apiKeys"."organizationId"
      and "skills"."id" = :skillId
    )
    and "skills"."revision" = :revision
  )
  inner join "skillFiles" on (
    "skillFiles"."organizationId" = "skills"."organizationId"
    and "skillFiles"."skillId" = "skills"."id"
  )
where
  (
    "apiKeys"."hash" = :keyHash
    and case
      when "apiKeys"."revokedAt" is not null then 'revoked'
      when "apiKeys"."expiresAt" <= :now then 'expired'
    end is null
    and (
      :scope is null
      or instr("apiKeys"."scopes", json_quote(:scope)) > 0
    )
  )
order by
  "skillFiles"."filename" asc;

-- updatable.check
select
  case
    when "apiKeys"."revokedAt" is not null then 'revoked'
    when "apiKeys"."expiresAt" <= :now then 'expired'
  end as "keyEnd",
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
  "skills"."id" is not null as "skillExists",
  (
    select
      case
        when "organizationUsage"."skillBytes" + (
          case
            when :sizeBytes is null then 0
            else :sizeBytes - (
              select
                coalesce(sum(octet_length ("content")), 0)
              from
                "skillFiles"
              where
                (
                  "skillFiles"."organizationId" = "skills"."organizationId"
                  and "skillFiles"."skillId" = "skills"."id"
                )
            )
          end
        ) > max("organizationUsage"."skillBytes", :skillBytesQuota) then 'skillBytes'
      end
    from
      "organizationUsage"
    where
      "organizationUsage"."organizationId" = "apiKeys"."organizationId"
  ) as "exceededQuota",
  not exists (
    select
      "id"
    from
      "skills" "other"
    where
      (
        "other"."organizationId" = "apiKeys"."organizationId"
        and "other"."name" = :name
        and "other"."id" <> :skillId
      )
  ) as "nameIsFree",
  :ifMatch is null
  or (
    :ifMatch = '*'
    and "skills"."revision" is not null
  )
  or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0 as "matchesRevision"
from
  "apiKeys"
  left join "skills" on (
    "skills"."organizationId" = "apiKeys"."organizationId"
    and "skills"."id" = :skillId
  )
where
  "apiKeys"."hash" = :keyHash;

-- updateSkill
update "skills"
set
  "name" = coalesce(:name, "skills"."name"),
  "description" = coalesce(:description, "skills"."description"),
  "revision" = :revision,
  "updatedAt" = :now
where
  (
    "skills"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "skills" on (
          "skills"."organizationId" = "apiKeys"."organizationId"
          and "skills"."id" = :skillId
        )
      where
        (
          (
            "apiKeys"."hash" = :keyHash
            and case
              when "apiKeys"."revokedAt" is not null then 'revoked'
              when "apiKeys"."expiresAt" <= :now then 'expired'
            end is null
            and (
              :scope is null
              or instr("apiKeys"."scopes", json_quote(:scope)) > 0
            )
          )
          and ("skills"."id" is not null)
          and (
            select
              case
                when "organizationUsage"."skillBytes" + (
                  case
                    when :sizeBytes is null then 0
                    else :sizeBytes - (
                      select
                        coalesce(sum(octet_length ("content")), 0)
                      from
                        "skillFiles"
                      where
                        (
                          "skillFiles"."organizationId" = "skills"."organizationId"
                          and "skillFiles"."skillId" = "skills"."id"
                        )
                    )
                  end
                ) > max("organizationUsage"."skillBytes", :skillBytesQuota) then 'skillBytes'
              end
            from
              "organizationUsage"
            where
              "organizationUsage"."organizationId" = "apiKeys"."organizationId"
          ) is null
          and (
            not exists (
              select
                "id"
              from
                "skills" "other"
              where
                (
                  "other"."organizationId" = "apiKeys"."organizationId"
                  and "other"."name" = :name
                  and "other"."id" <> :skillId
                )
            )
          )
          and (
            :ifMatch is null
            or (
              :ifMatch = '*'
              and "skills"."revision" is not null
            )
            or instr(:ifMatch, '"' || "skills"."revision" || '"') > 0
          )
        )
    )
    and "skills"."id" = :skillId
  )
returning
  "id",
  "name",
  "description",
  "createdAt",
  "updatedAt",
  "revision";
