-- src/resources/api-keys/ending.ts

-- adoptInvitations
update "invitations"
set
  "createdByKeyId" = + :apiKeyId
where
  (
    "invitations"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "apiKeys" "named" on (
          (
            "named"."organizationId" = "apiKeys"."organizationId"
            and "named"."id" = + :apiKeyId
          )
          and (
            "named"."revokedAt" is null
            or :descendants
          )
        )
        left join "identities" "signedIn" on (
          "signedIn"."organizationId" = "apiKeys"."organizationId"
          and "signedIn"."id" = "apiKeys"."identityId"
          and "apiKeys"."kind" = 'session'
          and not exists (
            select
              "id"
            from
              "apiKeys" "maker"
            where
              (
                "maker"."organizationId" = "apiKeys"."organizationId"
                and "maker"."id" = "apiKeys"."createdByKeyId"
                and "maker"."identityId" = "apiKeys"."identityId"
                and "maker"."kind" <> 'session'
              )
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
            and ("named"."id" is not null)
            and (
              (
                "apiKeys"."rotatedAt" is null
                or (
                  "named"."id" = "apiKeys"."id"
                  and not :descendants
                )
              )
            )
            and (
              (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "named"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
                or (
                  coalesce("signedIn"."role" = 'admin', false)
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
              )
            )
          )
          and (
            "apiKeys"."projectIds" is null
            and :descendants
          )
        )
    )
    and "invitations"."createdByKeyId" is not null
    and (+ "invitations"."organizationId", + "invitations"."createdByKeyId") in (
      with recursive
        "lineage" ("organizationId", "id", "hash", "revokedAt", "isNamed") as (
          select
            "named"."organizationId" as "organizationId",
            "named"."id" as "id",
            "named"."hash" as "hash",
            "named"."revokedAt" as "revokedAt",
            1 as "isNamed"
          from
            "apiKeys"
            left join "apiKeys" "named" on (
              (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = + :apiKeyId
              )
              and (
                "named"."revokedAt" is null
                or :descendants
              )
            )
            left join "identities" "signedIn" on (
              "signedIn"."organizationId" = "apiKeys"."organizationId"
              and "signedIn"."id" = "apiKeys"."identityId"
              and "apiKeys"."kind" = 'session'
              and not exists (
                select
                  "id"
                from
                  "apiKeys" "maker"
                where
                  (
                    "maker"."organizationId" = "apiKeys"."organizationId"
                    and "maker"."id" = "apiKeys"."createdByKeyId"
                    and "maker"."identityId" = "apiKeys"."identityId"
                    and "maker"."kind" <> 'session'
                  )
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
              and ("named"."id" is not null)
              and (
                (
                  "apiKeys"."rotatedAt" is null
                  or (
                    "named"."id" = "apiKeys"."id"
                    and not :descendants
                  )
                )
              )
              and (
                (
                  (
                    (
                      "apiKeys"."userId" is null
                      or "apiKeys"."userId" is "named"."userId"
                    )
                    and (
                      "apiKeys"."projectIds" is null
                      or (
                        "named"."projectIds" is not null
                        and not exists (
                          select
                            1
                          from
                            json_each("named"."projectIds")
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
                  or (
                    coalesce("signedIn"."role" = 'admin', false)
                    and (
                      "apiKeys"."projectIds" is null
                      or (
                        "named"."projectIds" is not null
                        and not exists (
                          select
                            1
                          from
                            json_each("named"."projectIds")
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
                )
              )
            )
          union
          select
            "session"."organizationId" as "organizationId",
            "session"."id" as "id",
            "session"."hash" as "hash",
            "session"."revokedAt" as "revokedAt",
            0 as "isNamed"
          from
            "apiKeys"
            left join "apiKeys" "named" on (
              (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = + :apiKeyId
              )
              and (
                "named"."revokedAt" is null
                or :descendants
              )
            )
            left join "identities" "signedIn" on (
              "signedIn"."organizationId" = "apiKeys"."organizationId"
              and "signedIn"."id" = "apiKeys"."identityId"
              and "apiKeys"."kind" = 'session'
              and not exists (
                select
                  "id"
                from
                  "apiKeys" "maker"
                where
                  (
                    "maker"."organizationId" = "apiKeys"."organizationId"
                    and "maker"."id" = "apiKeys"."createdByKeyId"
                    and "maker"."identityId" = "apiKeys"."identityId"
                    and "maker"."kind" <> 'session'
                  )
              )
            )
            inner join "apiKeys" "session" on (
              "session"."organizationId" = "apiKeys"."organizationId"
              and "session"."createdByKeyId" = "named"."id"
              and "named"."kind" = 'key'
              and "session"."identityId" is "named"."identityId"
              and (
                "session"."kind" = 'session'
                or "session"."identityId" is null
              )
              and "session"."kind" <> 'key'
              and "session"."revokedAt" is null
              and "session"."expiresAt" > :now
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
              and ("named"."id" is not null)
              and (
                (
                  "apiKeys"."rotatedAt" is null
                  or (
                    "named"."id" = "apiKeys"."id"
                    and not :descendants
                  )
                )
              )
              and (
                (
                  (
                    (
                      "apiKeys"."userId" is null
                      or "apiKeys"."userId" is "named"."userId"
                    )
                    and (
                      "apiKeys"."projectIds" is null
                      or (
                        "named"."projectIds" is not null
                        and not exists (
                          select
                            1
                          from
                            json_each("named"."projectIds")
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
                  or (
                    coalesce("signedIn"."role" = 'admin', false)
                    and (
                      "apiKeys"."projectIds" is null
                      or (
                        "named"."projectIds" is not null
                        and not exists (
                          select
                            1
                          from
                            json_each("named"."projectIds")
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
                )
              )
            )
          union
          select
            "child"."organizationId" as "organizationId",
            "child"."id" as "id",
            "child"."hash" as "hash",
            "child"."revokedAt" as "revokedAt",
            0 as "isNamed"
          from
            "apiKeys" "child"
            inner join "lineage" on (
              "child"."organizationId" = "lineage"."organizationId"
              and "child"."createdByKeyId" = "lineage"."id"
            )
          where
            :descendants
          union
          select
            "admitted"."organizationId" as "organizationId",
            "admitted"."id" as "id",
            "admitted"."hash" as "hash",
            "admitted"."revokedAt" as "revokedAt",
            0 as "isNamed"
          from
            "lineage"
            cross join "signInRules"
            cross join "identities"
            cross join "apiKeys" "admitted"
          where
            (
              :descendants
              and (
                "signInRules"."organizationId" = "lineage"."organizationId"
                and "signInRules"."createdByKeyId" = "lineage"."id"
              )
              and "identities"."organizationId" = "signInRules"."organizationId"
              and instr("identities"."ruleIds", '"' || "signInRules"."id" || '"') > 0
              and (
                "admitted"."organizationId" = "identities"."organizationId"
                and "admitted"."identityId" = "identities"."id"
                and "admitted"."identityId" is not null
                and "admitted"."revokedAt" is null
              )
            )
          union
          select
            "admitted"."organizationId" as "organizationId",
            "admitted"."id" as "id",
            "admitted"."hash" as "hash",
            "admitted"."revokedAt" as "revokedAt",
            0 as "isNamed"
          from
            "lineage"
            cross join "identities" indexed by "identitiesByRoleKey"
            cross join "apiKeys" "admitted"
          where
            (
              :descendants
              and (
                "identities"."organizationId" = "lineage"."organizationId"
                and "identities"."roleByKeyId" = "lineage"."id"
              )
              and (
                "admitted"."organizationId" = "identities"."organizationId"
                and "admitted"."identityId" = "identities"."id"
                and "admitted"."identityId" is not null
                and "admitted"."revokedAt" is null
              )
            )
        )
      select
        "organizationId",
        "id"
      from
        "lineage"
      where
        true
    )
  );

-- adoptLinks
update "identities"
set
  "linkedByKeyId" = + :apiKeyId
where
  ("identities"."organizationId", "identities"."id") in (
    select
      "identities"."organizationId",
      "identities"."id"
    from
      "identities" indexed by "identitiesByLinkKey"
    where
      (
        "identities"."organizationId" = (
          select
            "apiKeys"."organizationId"
          from
            "apiKeys"
            left join "apiKeys" "named" on (
              (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = + :apiKeyId
              )
              and (
                "named"."revokedAt" is null
                or :descendants
              )
            )
            left join "identities" "signedIn" on (
              "signedIn"."organizationId" = "apiKeys"."organizationId"
              and "signedIn"."id" = "apiKeys"."identityId"
              and "apiKeys"."kind" = 'session'
              and not exists (
                select
                  "id"
                from
                  "apiKeys" "maker"
                where
                  (
                    "maker"."organizationId" = "apiKeys"."organizationId"
                    and "maker"."id" = "apiKeys"."createdByKeyId"
                    and "maker"."identityId" = "apiKeys"."identityId"
                    and "maker"."kind" <> 'session'
                  )
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
                and ("named"."id" is not null)
                and (
                  (
                    "apiKeys"."rotatedAt" is null
                    or (
                      "named"."id" = "apiKeys"."id"
                      and not :descendants
                    )
                  )
                )
                and (
                  (
                    (
                      (
                        "apiKeys"."userId" is null
                        or "apiKeys"."userId" is "named"."userId"
                      )
                      and (
                        "apiKeys"."projectIds" is null
                        or (
                          "named"."projectIds" is not null
                          and not exists (
                            select
                              1
                            from
                              json_each("named"."projectIds")
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
                    or (
                      coalesce("signedIn"."role" = 'admin', false)
                      and (
                        "apiKeys"."projectIds" is null
                        or (
                          "named"."projectIds" is not null
                          and not exists (
                            select
                              1
                            from
                              json_each("named"."projectIds")
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
                  )
                )
              )
              and (
                "apiKeys"."projectIds" is null
                and :descendants
              )
            )
        )
        and "identities"."linkedByKeyId" is not null
        and (+ "identities"."organizationId", + "identities"."linkedByKeyId") in (
          with recursive
            "lineage" ("organizationId", "id", "hash", "revokedAt", "isNamed") as (
              select
                "named"."organizationId" as "organizationId",
                "named"."id" as "id",
                "named"."hash" as "hash",
                "named"."revokedAt" as "revokedAt",
                1 as "isNamed"
              from
                "apiKeys"
                left join "apiKeys" "named" on (
                  (
                    "named"."organizationId" = "apiKeys"."organizationId"
                    and "named"."id" = + :apiKeyId
                  )
                  and (
                    "named"."revokedAt" is null
                    or :descendants
                  )
                )
                left join "identities" "signedIn" on (
                  "signedIn"."organizationId" = "apiKeys"."organizationId"
                  and "signedIn"."id" = "apiKeys"."identityId"
                  and "apiKeys"."kind" = 'session'
                  and not exists (
                    select
                      "id"
                    from
                      "apiKeys" "maker"
                    where
                      (
                        "maker"."organizationId" = "apiKeys"."organizationId"
                        and "maker"."id" = "apiKeys"."createdByKeyId"
                        and "maker"."identityId" = "apiKeys"."identityId"
                        and "maker"."kind" <> 'session'
                      )
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
                  and ("named"."id" is not null)
                  and (
                    (
                      "apiKeys"."rotatedAt" is null
                      or (
                        "named"."id" = "apiKeys"."id"
                        and not :descendants
                      )
                    )
                  )
                  and (
                    (
                      (
                        (
                          "apiKeys"."userId" is null
                          or "apiKeys"."userId" is "named"."userId"
                        )
                        and (
                          "apiKeys"."projectIds" is null
                          or (
                            "named"."projectIds" is not null
                            and not exists (
                              select
                                1
                              from
                                json_each("named"."projectIds")
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
                      or (
                        coalesce("signedIn"."role" = 'admin', false)
                        and (
                          "apiKeys"."projectIds" is null
                          or (
                            "named"."projectIds" is not null
                            and not exists (
                              select
                                1
                              from
                                json_each("named"."projectIds")
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
                    )
                  )
                )
              union
              select
                "session"."organizationId" as "organizationId",
                "session"."id" as "id",
                "session"."hash" as "hash",
                "session"."revokedAt" as "revokedAt",
                0 as "isNamed"
              from
                "apiKeys"
                left join "apiKeys" "named" on (
                  (
                    "named"."organizationId" = "apiKeys"."organizationId"
                    and "named"."id" = + :apiKeyId
                  )
                  and (
                    "named"."revokedAt" is null
                    or :descendants
                  )
                )
                left join "identities" "signedIn" on (
                  "signedIn"."organizationId" = "apiKeys"."organizationId"
                  and "signedIn"."id" = "apiKeys"."identityId"
                  and "apiKeys"."kind" = 'session'
                  and not exists (
                    select
                      "id"
                    from
                      "apiKeys" "maker"
                    where
                      (
                        "maker"."organizationId" = "apiKeys"."organizationId"
                        and "maker"."id" = "apiKeys"."createdByKeyId"
                        and "maker"."identityId" = "apiKeys"."identityId"
                        and "maker"."kind" <> 'session'
                      )
                  )
                )
                inner join "apiKeys" "session" on (
                  "session"."organizationId" = "apiKeys"."organizationId"
                  and "session"."createdByKeyId" = "named"."id"
                  and "named"."kind" = 'key'
                  and "session"."identityId" is "named"."identityId"
                  and (
                    "session"."kind" = 'session'
                    or "session"."identityId" is null
                  )
                  and "session"."kind" <> 'key'
                  and "session"."revokedAt" is null
                  and "session"."expiresAt" > :now
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
                  and ("named"."id" is not null)
                  and (
                    (
                      "apiKeys"."rotatedAt" is null
                      or (
                        "named"."id" = "apiKeys"."id"
                        and not :descendants
                      )
                    )
                  )
                  and (
                    (
                      (
                        (
                          "apiKeys"."userId" is null
                          or "apiKeys"."userId" is "named"."userId"
                        )
                        and (
                          "apiKeys"."projectIds" is null
                          or (
                            "named"."projectIds" is not null
                            and not exists (
                              select
                                1
                              from
                                json_each("named"."projectIds")
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
                      or (
                        coalesce("signedIn"."role" = 'admin', false)
                        and (
                          "apiKeys"."projectIds" is null
                          or (
                            "named"."projectIds" is not null
                            and not exists (
                              select
                                1
                              from
                                json_each("named"."projectIds")
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
                    )
                  )
                )
              union
              select
                "child"."organizationId" as "organizationId",
                "child"."id" as "id",
                "child"."hash" as "hash",
                "child"."revokedAt" as "revokedAt",
                0 as "isNamed"
              from
                "apiKeys" "child"
                inner join "lineage" on (
                  "child"."organizationId" = "lineage"."organizationId"
                  and "child"."createdByKeyId" = "lineage"."id"
                )
              where
                :descendants
              union
              select
                "admitted"."organizationId" as "organizationId",
                "admitted"."id" as "id",
                "admitted"."hash" as "hash",
                "admitted"."revokedAt" as "revokedAt",
                0 as "isNamed"
              from
                "lineage"
                cross join "signInRules"
                cross join "identities"
                cross join "apiKeys" "admitted"
              where
                (
                  :descendants
                  and (
                    "signInRules"."organizationId" = "lineage"."organizationId"
                    and "signInRules"."createdByKeyId" = "lineage"."id"
                  )
                  and "identities"."organizationId" = "signInRules"."organizationId"
                  and instr("identities"."ruleIds", '"' || "signInRules"."id" || '"') > 0
                  and (
                    "admitted"."organizationId" = "identities"."organizationId"
                    and "admitted"."identityId" = "identities"."id"
                    and "admitted"."identityId" is not null
                    and "admitted"."revokedAt" is null
                  )
                )
              union
              select
                "admitted"."organizationId" as "organizationId",
                "admitted"."id" as "id",
                "admitted"."hash" as "hash",
                "admitted"."revokedAt" as "revokedAt",
                0 as "isNamed"
              from
                "lineage"
                cross join "identities" indexed by "identitiesByRoleKey"
                cross join "apiKeys" "admitted"
              where
                (
                  :descendants
                  and (
                    "identities"."organizationId" = "lineage"."organizationId"
                    and "identities"."roleByKeyId" = "lineage"."id"
                  )
                  and (
                    "admitted"."organizationId" = "identities"."organizationId"
                    and "admitted"."identityId" = "identities"."id"
                    and "admitted"."identityId" is not null
                    and "admitted"."revokedAt" is null
                  )
                )
            )
          select
            "organizationId",
            "id"
          from
            "lineage"
          where
            true
        )
      )
  );

-- adoptRoles
update "identities"
set
  "roleByKeyId" = + :apiKeyId
where
  ("identities"."organizationId", "identities"."id") in (
    select
      "identities"."organizationId",
      "identities"."id"
    from
      "identities" indexed by "identitiesByRoleKey"
    where
      (
        "identities"."organizationId" = (
          select
            "apiKeys"."organizationId"
          from
            "apiKeys"
            left join "apiKeys" "named" on (
              (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = + :apiKeyId
              )
              and (
                "named"."revokedAt" is null
                or :descendants
              )
            )
            left join "identities" "signedIn" on (
              "signedIn"."organizationId" = "apiKeys"."organizationId"
              and "signedIn"."id" = "apiKeys"."identityId"
              and "apiKeys"."kind" = 'session'
              and not exists (
                select
                  "id"
                from
                  "apiKeys" "maker"
                where
                  (
                    "maker"."organizationId" = "apiKeys"."organizationId"
                    and "maker"."id" = "apiKeys"."createdByKeyId"
                    and "maker"."identityId" = "apiKeys"."identityId"
                    and "maker"."kind" <> 'session'
                  )
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
                and ("named"."id" is not null)
                and (
                  (
                    "apiKeys"."rotatedAt" is null
                    or (
                      "named"."id" = "apiKeys"."id"
                      and not :descendants
                    )
                  )
                )
                and (
                  (
                    (
                      (
                        "apiKeys"."userId" is null
                        or "apiKeys"."userId" is "named"."userId"
                      )
                      and (
                        "apiKeys"."projectIds" is null
                        or (
                          "named"."projectIds" is not null
                          and not exists (
                            select
                              1
                            from
                              json_each("named"."projectIds")
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
                    or (
                      coalesce("signedIn"."role" = 'admin', false)
                      and (
                        "apiKeys"."projectIds" is null
                        or (
                          "named"."projectIds" is not null
                          and not exists (
                            select
                              1
                            from
                              json_each("named"."projectIds")
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
                  )
                )
              )
              and (
                "apiKeys"."projectIds" is null
                and :descendants
              )
            )
        )
        and "identities"."roleByKeyId" is not null
        and (+ "identities"."organizationId", + "identities"."roleByKeyId") in (
          with recursive
            "lineage" ("organizationId", "id", "hash", "revokedAt", "isNamed") as (
              select
                "named"."organizationId" as "organizationId",
                "named"."id" as "id",
                "named"."hash" as "hash",
                "named"."revokedAt" as "revokedAt",
                1 as "isNamed"
              from
                "apiKeys"
                left join "apiKeys" "named" on (
                  (
                    "named"."organizationId" = "apiKeys"."organizationId"
                    and "named"."id" = + :apiKeyId
                  )
                  and (
                    "named"."revokedAt" is null
                    or :descendants
                  )
                )
                left join "identities" "signedIn" on (
                  "signedIn"."organizationId" = "apiKeys"."organizationId"
                  and "signedIn"."id" = "apiKeys"."identityId"
                  and "apiKeys"."kind" = 'session'
                  and not exists (
                    select
                      "id"
                    from
                      "apiKeys" "maker"
                    where
                      (
                        "maker"."organizationId" = "apiKeys"."organizationId"
                        and "maker"."id" = "apiKeys"."createdByKeyId"
                        and "maker"."identityId" = "apiKeys"."identityId"
                        and "maker"."kind" <> 'session'
                      )
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
                  and ("named"."id" is not null)
                  and (
                    (
                      "apiKeys"."rotatedAt" is null
                      or (
                        "named"."id" = "apiKeys"."id"
                        and not :descendants
                      )
                    )
                  )
                  and (
                    (
                      (
                        (
                          "apiKeys"."userId" is null
                          or "apiKeys"."userId" is "named"."userId"
                        )
                        and (
                          "apiKeys"."projectIds" is null
                          or (
                            "named"."projectIds" is not null
                            and not exists (
                              select
                                1
                              from
                                json_each("named"."projectIds")
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
                      or (
                        coalesce("signedIn"."role" = 'admin', false)
                        and (
                          "apiKeys"."projectIds" is null
                          or (
                            "named"."projectIds" is not null
                            and not exists (
                              select
                                1
                              from
                                json_each("named"."projectIds")
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
                    )
                  )
                )
              union
              select
                "session"."organizationId" as "organizationId",
                "session"."id" as "id",
                "session"."hash" as "hash",
                "session"."revokedAt" as "revokedAt",
                0 as "isNamed"
              from
                "apiKeys"
                left join "apiKeys" "named" on (
                  (
                    "named"."organizationId" = "apiKeys"."organizationId"
                    and "named"."id" = + :apiKeyId
                  )
                  and (
                    "named"."revokedAt" is null
                    or :descendants
                  )
                )
                left join "identities" "signedIn" on (
                  "signedIn"."organizationId" = "apiKeys"."organizationId"
                  and "signedIn"."id" = "apiKeys"."identityId"
                  and "apiKeys"."kind" = 'session'
                  and not exists (
                    select
                      "id"
                    from
                      "apiKeys" "maker"
                    where
                      (
                        "maker"."organizationId" = "apiKeys"."organizationId"
                        and "maker"."id" = "apiKeys"."createdByKeyId"
                        and "maker"."identityId" = "apiKeys"."identityId"
                        and "maker"."kind" <> 'session'
                      )
                  )
                )
                inner join "apiKeys" "session" on (
                  "session"."organizationId" = "apiKeys"."organizationId"
                  and "session"."createdByKeyId" = "named"."id"
                  and "named"."kind" = 'key'
                  and "session"."identityId" is "named"."identityId"
                  and (
                    "session"."kind" = 'session'
                    or "session"."identityId" is null
                  )
                  and "session"."kind" <> 'key'
                  and "session"."revokedAt" is null
                  and "session"."expiresAt" > :now
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
                  and ("named"."id" is not null)
                  and (
                    (
                      "apiKeys"."rotatedAt" is null
                      or (
                        "named"."id" = "apiKeys"."id"
                        and not :descendants
                      )
                    )
                  )
                  and (
                    (
                      (
                        (
                          "apiKeys"."userId" is null
                          or "apiKeys"."userId" is "named"."userId"
                        )
                        and (
                          "apiKeys"."projectIds" is null
                          or (
                            "named"."projectIds" is not null
                            and not exists (
                              select
                                1
                              from
                                json_each("named"."projectIds")
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
                      or (
                        coalesce("signedIn"."role" = 'admin', false)
                        and (
                          "apiKeys"."projectIds" is null
                          or (
                            "named"."projectIds" is not null
                            and not exists (
                              select
                                1
                              from
                                json_each("named"."projectIds")
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
                    )
                  )
                )
              union
              select
                "child"."organizationId" as "organizationId",
                "child"."id" as "id",
                "child"."hash" as "hash",
                "child"."revokedAt" as "revokedAt",
                0 as "isNamed"
              from
                "apiKeys" "child"
                inner join "lineage" on (
                  "child"."organizationId" = "lineage"."organizationId"
                  and "child"."createdByKeyId" = "lineage"."id"
                )
              where
                :descendants
              union
              select
                "admitted"."organizationId" as "organizationId",
                "admitted"."id" as "id",
                "admitted"."hash" as "hash",
                "admitted"."revokedAt" as "revokedAt",
                0 as "isNamed"
              from
                "lineage"
                cross join "signInRules"
                cross join "identities"
                cross join "apiKeys" "admitted"
              where
                (
                  :descendants
                  and (
                    "signInRules"."organizationId" = "lineage"."organizationId"
                    and "signInRules"."createdByKeyId" = "lineage"."id"
                  )
                  and "identities"."organizationId" = "signInRules"."organizationId"
                  and instr("identities"."ruleIds", '"' || "signInRules"."id" || '"') > 0
                  and (
                    "admitted"."organizationId" = "identities"."organizationId"
                    and "admitted"."identityId" = "identities"."id"
                    and "admitted"."identityId" is not null
                    and "admitted"."revokedAt" is null
                  )
                )
              union
              select
                "admitted"."organizationId" as "organizationId",
                "admitted"."id" as "id",
                "admitted"."hash" as "hash",
                "admitted"."revokedAt" as "revokedAt",
                0 as "isNamed"
              from
                "lineage"
                cross join "identities" indexed by "identitiesByRoleKey"
                cross join "apiKeys" "admitted"
              where
                (
                  :descendants
                  and (
                    "identities"."organizationId" = "lineage"."organizationId"
                    and "identities"."roleByKeyId" = "lineage"."id"
                  )
                  and (
                    "admitted"."organizationId" = "identities"."organizationId"
                    and "admitted"."identityId" = "identities"."id"
                    and "admitted"."identityId" is not null
                    and "admitted"."revokedAt" is null
                  )
                )
            )
          select
            "organizationId",
            "id"
          from
            "lineage"
          where
            true
        )
      )
  );

-- adoptRules
update "signInRules"
set
  "createdByKeyId" = + :apiKeyId
where
  (
    "signInRules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "apiKeys" "named" on (
          (
            "named"."organizationId" = "apiKeys"."organizationId"
            and "named"."id" = + :apiKeyId
          )
          and (
            "named"."revokedAt" is null
            or :descendants
          )
        )
        left join "identities" "signedIn" on (
          "signedIn"."organizationId" = "apiKeys"."organizationId"
          and "signedIn"."id" = "apiKeys"."identityId"
          and "apiKeys"."kind" = 'session'
          and not exists (
            select
              "id"
            from
              "apiKeys" "maker"
            where
              (
                "maker"."organizationId" = "apiKeys"."organizationId"
                and "maker"."id" = "apiKeys"."createdByKeyId"
                and "maker"."identityId" = "apiKeys"."identityId"
                and "maker"."kind" <> 'session'
              )
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
            and ("named"."id" is not null)
            and (
              (
                "apiKeys"."rotatedAt" is null
                or (
                  "named"."id" = "apiKeys"."id"
                  and not :descendants
                )
              )
            )
            and (
              (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "named"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
                or (
                  coalesce("signedIn"."role" = 'admin', false)
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
              )
            )
          )
          and (
            "apiKeys"."projectIds" is null
            and :descendants
          )
        )
    )
    and "signInRules"."createdByKeyId" is not null
    and (+ "signInRules"."organizationId", + "signInRules"."createdByKeyId") in (
      with recursive
        "lineage" ("organizationId", "id", "hash", "revokedAt", "isNamed") as (
          select
            "named"."organizationId" as "organizationId",
            "named"."id" as "id",
            "named"."hash" as "hash",
            "named"."revokedAt" as "revokedAt",
            1 as "isNamed"
          from
            "apiKeys"
            left join "apiKeys" "named" on (
              (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = + :apiKeyId
              )
              and (
                "named"."revokedAt" is null
                or :descendants
              )
            )
            left join "identities" "signedIn" on (
              "signedIn"."organizationId" = "apiKeys"."organizationId"
              and "signedIn"."id" = "apiKeys"."identityId"
              and "apiKeys"."kind" = 'session'
              and not exists (
                select
                  "id"
                from
                  "apiKeys" "maker"
                where
                  (
                    "maker"."organizationId" = "apiKeys"."organizationId"
                    and "maker"."id" = "apiKeys"."createdByKeyId"
                    and "maker"."identityId" = "apiKeys"."identityId"
                    and "maker"."kind" <> 'session'
                  )
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
              and ("named"."id" is not null)
              and (
                (
                  "apiKeys"."rotatedAt" is null
                  or (
                    "named"."id" = "apiKeys"."id"
                    and not :descendants
                  )
                )
              )
              and (
                (
                  (
                    (
                      "apiKeys"."userId" is null
                      or "apiKeys"."userId" is "named"."userId"
                    )
                    and (
                      "apiKeys"."projectIds" is null
                      or (
                        "named"."projectIds" is not null
                        and not exists (
                          select
                            1
                          from
                            json_each("named"."projectIds")
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
                  or (
                    coalesce("signedIn"."role" = 'admin', false)
                    and (
                      "apiKeys"."projectIds" is null
                      or (
                        "named"."projectIds" is not null
                        and not exists (
                          select
                            1
                          from
                            json_each("named"."projectIds")
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
                )
              )
            )
          union
          select
            "session"."organizationId" as "organizationId",
            "session"."id" as "id",
            "session"."hash" as "hash",
            "session"."revokedAt" as "revokedAt",
            0 as "isNamed"
          from
            "apiKeys"
            left join "apiKeys" "named" on (
              (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = + :apiKeyId
              )
              and (
                "named"."revokedAt" is null
                or :descendants
              )
            )
            left join "identities" "signedIn" on (
              "signedIn"."organizationId" = "apiKeys"."organizationId"
              and "signedIn"."id" = "apiKeys"."identityId"
              and "apiKeys"."kind" = 'session'
              and not exists (
                select
                  "id"
                from
                  "apiKeys" "maker"
                where
                  (
                    "maker"."organizationId" = "apiKeys"."organizationId"
                    and "maker"."id" = "apiKeys"."createdByKeyId"
                    and "maker"."identityId" = "apiKeys"."identityId"
                    and "maker"."kind" <> 'session'
                  )
              )
            )
            inner join "apiKeys" "session" on (
              "session"."organizationId" = "apiKeys"."organizationId"
              and "session"."createdByKeyId" = "named"."id"
              and "named"."kind" = 'key'
              and "session"."identityId" is "named"."identityId"
              and (
                "session"."kind" = 'session'
                or "session"."identityId" is null
              )
              and "session"."kind" <> 'key'
              and "session"."revokedAt" is null
              and "session"."expiresAt" > :now
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
              and ("named"."id" is not null)
              and (
                (
                  "apiKeys"."rotatedAt" is null
                  or (
                    "named"."id" = "apiKeys"."id"
                    and not :descendants
                  )
                )
              )
              and (
                (
                  (
                    (
                      "apiKeys"."userId" is null
                      or "apiKeys"."userId" is "named"."userId"
                    )
                    and (
                      "apiKeys"."projectIds" is null
                      or (
                        "named"."projectIds" is not null
                        and not exists (
                          select
                            1
                          from
                            json_each("named"."projectIds")
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
                  or (
                    coalesce("signedIn"."role" = 'admin', false)
                    and (
                      "apiKeys"."projectIds" is null
                      or (
                        "named"."projectIds" is not null
                        and not exists (
                          select
                            1
                          from
                            json_each("named"."projectIds")
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
                )
              )
            )
          union
          select
            "child"."organizationId" as "organizationId",
            "child"."id" as "id",
            "child"."hash" as "hash",
            "child"."revokedAt" as "revokedAt",
            0 as "isNamed"
          from
            "apiKeys" "child"
            inner join "lineage" on (
              "child"."organizationId" = "lineage"."organizationId"
              and "child"."createdByKeyId" = "lineage"."id"
            )
          where
            :descendants
          union
          select
            "admitted"."organizationId" as "organizationId",
            "admitted"."id" as "id",
            "admitted"."hash" as "hash",
            "admitted"."revokedAt" as "revokedAt",
            0 as "isNamed"
          from
            "lineage"
            cross join "signInRules"
            cross join "identities"
            cross join "apiKeys" "admitted"
          where
            (
              :descendants
              and (
                "signInRules"."organizationId" = "lineage"."organizationId"
                and "signInRules"."createdByKeyId" = "lineage"."id"
              )
              and "identities"."organizationId" = "signInRules"."organizationId"
              and instr("identities"."ruleIds", '"' || "signInRules"."id" || '"') > 0
              and (
                "admitted"."organizationId" = "identities"."organizationId"
                and "admitted"."identityId" = "identities"."id"
                and "admitted"."identityId" is not null
                and "admitted"."revokedAt" is null
              )
            )
          union
          select
            "admitted"."organizationId" as "organizationId",
            "admitted"."id" as "id",
            "admitted"."hash" as "hash",
            "admitted"."revokedAt" as "revokedAt",
            0 as "isNamed"
          from
            "lineage"
            cross join "identities" indexed by "identitiesByRoleKey"
            cross join "apiKeys" "admitted"
          where
            (
              :descendants
              and (
                "identities"."organizationId" = "lineage"."organizationId"
                and "identities"."roleByKeyId" = "lineage"."id"
              )
              and (
                "admitted"."organizationId" = "identities"."organizationId"
                and "admitted"."identityId" = "identities"."id"
                and "admitted"."identityId" is not null
                and "admitted"."revokedAt" is null
              )
            )
        )
      select
        "organizationId",
        "id"
      from
        "lineage"
      where
        true
    )
  );

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
  "named"."id" is not null as "keyExists",
  (
    "apiKeys"."rotatedAt" is null
    or (
      "named"."id" = "apiKeys"."id"
      and not :descendants
    )
  ) as "callerIsUnrotated",
  (
    (
      (
        "apiKeys"."userId" is null
        or "apiKeys"."userId" is "named"."userId"
      )
      and (
        "apiKeys"."projectIds" is null
        or (
          "named"."projectIds" is not null
          and not exists (
            select
              1
            from
              json_each("named"."projectIds")
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
    or (
      coalesce("signedIn"."role" = 'admin', false)
      and (
        "apiKeys"."projectIds" is null
        or (
          "named"."projectIds" is not null
          and not exists (
            select
              1
            from
              json_each("named"."projectIds")
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
  ) as "keyIsDeletable"
from
  "apiKeys"
  left join "apiKeys" "named" on (
    (
      "named"."organizationId" = "apiKeys"."organizationId"
      and "named"."id" = + :apiKeyId
    )
    and (
      "named"."revokedAt" is null
      or :descendants
    )
  )
  left join "identities" "signedIn" on (
    "signedIn"."organizationId" = "apiKeys"."organizationId"
    and "signedIn"."id" = "apiKeys"."identityId"
    and "apiKeys"."kind" = 'session'
    and not exists (
      select
        "id"
      from
        "apiKeys" "maker"
      where
        (
          "maker"."organizationId" = "apiKeys"."organizationId"
          and "maker"."id" = "apiKeys"."createdByKeyId"
          and "maker"."identityId" = "apiKeys"."identityId"
          and "maker"."kind" <> 'session'
        )
    )
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- deleteInvitations
delete from "invitations"
where
  (
    "invitations"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        inner join "apiKeys" "named" on (
          (
            "named"."organizationId" = "apiKeys"."organizationId"
            and "named"."id" = + :apiKeyId
          )
          and "named"."revokedAt" is not null
        )
        left join "identities" "signedIn" on (
          "signedIn"."organizationId" = "apiKeys"."organizationId"
          and "signedIn"."id" = "apiKeys"."identityId"
          and "apiKeys"."kind" = 'session'
          and not exists (
            select
              "id"
            from
              "apiKeys" "maker"
            where
              (
                "maker"."organizationId" = "apiKeys"."organizationId"
                and "maker"."id" = "apiKeys"."createdByKeyId"
                and "maker"."identityId" = "apiKeys"."identityId"
                and "maker"."kind" <> 'session'
              )
          )
        )
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
          and "apiKeys"."projectIds" is null
          and "apiKeys"."rotatedAt" is null
          and (
            (
              (
                "apiKeys"."userId" is null
                or "apiKeys"."userId" is "named"."userId"
              )
              and (
                "apiKeys"."projectIds" is null
                or (
                  "named"."projectIds" is not null
                  and not exists (
                    select
                      1
                    from
                      json_each("named"."projectIds")
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
            or (
              coalesce("signedIn"."role" = 'admin', false)
              and (
                "apiKeys"."projectIds" is null
                or (
                  "named"."projectIds" is not null
                  and not exists (
                    select
                      1
                    from
                      json_each("named"."projectIds")
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
          )
          and :descendants
        )
    )
    and "invitations"."createdByKeyId" = + :apiKeyId
  );

-- deleteRules
delete from "signInRules"
where
  (
    "signInRules"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        inner join "apiKeys" "named" on (
          (
            "named"."organizationId" = "apiKeys"."organizationId"
            and "named"."id" = + :apiKeyId
          )
          and "named"."revokedAt" is not null
        )
        left join "identities" "signedIn" on (
          "signedIn"."organizationId" = "apiKeys"."organizationId"
          and "signedIn"."id" = "apiKeys"."identityId"
          and "apiKeys"."kind" = 'session'
          and not exists (
            select
              "id"
            from
              "apiKeys" "maker"
            where
              (
                "maker"."organizationId" = "apiKeys"."organizationId"
                and "maker"."id" = "apiKeys"."createdByKeyId"
                and "maker"."identityId" = "apiKeys"."identityId"
                and "maker"."kind" <> 'session'
              )
          )
        )
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
          and "apiKeys"."projectIds" is null
          and "apiKeys"."rotatedAt" is null
          and (
            (
              (
                "apiKeys"."userId" is null
                or "apiKeys"."userId" is "named"."userId"
              )
              and (
                "apiKeys"."projectIds" is null
                or (
                  "named"."projectIds" is not null
                  and not exists (
                    select
                      1
                    from
                      json_each("named"."projectIds")
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
            or (
              coalesce("signedIn"."role" = 'admin', false)
              and (
                "apiKeys"."projectIds" is null
                or (
                  "named"."projectIds" is not null
                  and not exists (
                    select
                      1
                    from
                      json_each("named"."projectIds")
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
          )
          and :descendants
        )
    )
    and "signInRules"."createdByKeyId" = + :apiKeyId
  );

-- deletion.revoked
update "apiKeys"
set
  "revokedAt" = + :now,
  "createdByKeyId" = case
    when "ending"."isNamed"
    or not :descendants then "apiKeys"."createdByKeyId"
  end
from
  (
    with recursive
      "lineage" ("organizationId", "id", "hash", "revokedAt", "isNamed") as (
        select
          "named"."organizationId" as "organizationId",
          "named"."id" as "id",
          "named"."hash" as "hash",
          "named"."revokedAt" as "revokedAt",
          1 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on (
            (
              "named"."organizationId" = "apiKeys"."organizationId"
              and "named"."id" = + :apiKeyId
            )
            and (
              "named"."revokedAt" is null
              or :descendants
            )
          )
          left join "identities" "signedIn" on (
            "signedIn"."organizationId" = "apiKeys"."organizationId"
            and "signedIn"."id" = "apiKeys"."identityId"
            and "apiKeys"."kind" = 'session'
            and not exists (
              select
                "id"
              from
                "apiKeys" "maker"
              where
                (
                  "maker"."organizationId" = "apiKeys"."organizationId"
                  and "maker"."id" = "apiKeys"."createdByKeyId"
                  and "maker"."identityId" = "apiKeys"."identityId"
                  and "maker"."kind" <> 'session'
                )
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
            and ("named"."id" is not null)
            and (
              (
                "apiKeys"."rotatedAt" is null
                or (
                  "named"."id" = "apiKeys"."id"
                  and not :descendants
                )
              )
            )
            and (
              (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "named"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
                or (
                  coalesce("signedIn"."role" = 'admin', false)
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
              )
            )
          )
        union
        select
          "session"."organizationId" as "organizationId",
          "session"."id" as "id",
          "session"."hash" as "hash",
          "session"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on (
            (
              "named"."organizationId" = "apiKeys"."organizationId"
              and "named"."id" = + :apiKeyId
            )
            and (
              "named"."revokedAt" is null
              or :descendants
            )
          )
          left join "identities" "signedIn" on (
            "signedIn"."organizationId" = "apiKeys"."organizationId"
            and "signedIn"."id" = "apiKeys"."identityId"
            and "apiKeys"."kind" = 'session'
            and not exists (
              select
                "id"
              from
                "apiKeys" "maker"
              where
                (
                  "maker"."organizationId" = "apiKeys"."organizationId"
                  and "maker"."id" = "apiKeys"."createdByKeyId"
                  and "maker"."identityId" = "apiKeys"."identityId"
                  and "maker"."kind" <> 'session'
                )
            )
          )
          inner join "apiKeys" "session" on (
            "session"."organizationId" = "apiKeys"."organizationId"
            and "session"."createdByKeyId" = "named"."id"
            and "named"."kind" = 'key'
            and "session"."identityId" is "named"."identityId"
            and (
              "session"."kind" = 'session'
              or "session"."identityId" is null
            )
            and "session"."kind" <> 'key'
            and "session"."revokedAt" is null
            and "session"."expiresAt" > :now
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
            and ("named"."id" is not null)
            and (
              (
                "apiKeys"."rotatedAt" is null
                or (
                  "named"."id" = "apiKeys"."id"
                  and not :descendants
                )
              )
            )
            and (
              (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "named"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
                or (
                  coalesce("signedIn"."role" = 'admin', false)
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
              )
            )
          )
        union
        select
          "child"."organizationId" as "organizationId",
          "child"."id" as "id",
          "child"."hash" as "hash",
          "child"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "apiKeys" "child"
          inner join "lineage" on (
            "child"."organizationId" = "lineage"."organizationId"
            and "child"."createdByKeyId" = "lineage"."id"
          )
        where
          :descendants
        union
        select
          "admitted"."organizationId" as "organizationId",
          "admitted"."id" as "id",
          "admitted"."hash" as "hash",
          "admitted"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "lineage"
          cross join "signInRules"
          cross join "identities"
          cross join "apiKeys" "admitted"
        where
          (
            :descendants
            and (
              "signInRules"."organizationId" = "lineage"."organizationId"
              and "signInRules"."createdByKeyId" = "lineage"."id"
            )
            and "identities"."organizationId" = "signInRules"."organizationId"
            and instr("identities"."ruleIds", '"' || "signInRules"."id" || '"') > 0
            and (
              "admitted"."organizationId" = "identities"."organizationId"
              and "admitted"."identityId" = "identities"."id"
              and "admitted"."identityId" is not null
              and "admitted"."revokedAt" is null
            )
          )
        union
        select
          "admitted"."organizationId" as "organizationId",
          "admitted"."id" as "id",
          "admitted"."hash" as "hash",
          "admitted"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "lineage"
          cross join "identities" indexed by "identitiesByRoleKey"
          cross join "apiKeys" "admitted"
        where
          (
            :descendants
            and (
              "identities"."organizationId" = "lineage"."organizationId"
              and "identities"."roleByKeyId" = "lineage"."id"
            )
            and (
              "admitted"."organizationId" = "identities"."organizationId"
              and "admitted"."identityId" = "identities"."id"
              and "admitted"."identityId" is not null
              and "admitted"."revokedAt" is null
            )
          )
      )
    select
      *
    from
      "lineage"
    where
      "revokedAt" is null
  ) as "ending"
where
  "apiKeys"."hash" = + "ending"."hash"
returning
  "id";

-- deletion.revoked.recording
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
  substr(:event.id, 1, 32) || printf('%04x', 0 + row_number() over () - 1) as "id",
  case "revoked"."kind"
    when 'session' then 'api-key.session-ended'
    when 'grant' then 'api-key.app-disconnected'
    else 'api-key.revoked'
  end as "type",
  "revoked"."id" as "resourceId",
  null as "parentId",
  "revoked"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join (
    with recursive
      "lineage" ("organizationId", "id", "hash", "revokedAt", "isNamed") as (
        select
          "named"."organizationId" as "organizationId",
          "named"."id" as "id",
          "named"."hash" as "hash",
          "named"."revokedAt" as "revokedAt",
          1 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on (
            (
              "named"."organizationId" = "apiKeys"."organizationId"
              and "named"."id" = + :apiKeyId
            )
            and (
              "named"."revokedAt" is null
              or :descendants
            )
          )
          left join "identities" "signedIn" on (
            "signedIn"."organizationId" = "apiKeys"."organizationId"
            and "signedIn"."id" = "apiKeys"."identityId"
            and "apiKeys"."kind" = 'session'
            and not exists (
              select
                "id"
              from
                "apiKeys" "maker"
              where
                (
                  "maker"."organizationId" = "apiKeys"."organizationId"
                  and "maker"."id" = "apiKeys"."createdByKeyId"
                  and "maker"."identityId" = "apiKeys"."identityId"
                  and "maker"."kind" <> 'session'
                )
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
            and ("named"."id" is not null)
            and (
              (
                "apiKeys"."rotatedAt" is null
                or (
                  "named"."id" = "apiKeys"."id"
                  and not :descendants
                )
              )
            )
            and (
              (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "named"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
                or (
                  coalesce("signedIn"."role" = 'admin', false)
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
              )
            )
          )
        union
        select
          "session"."organizationId" as "organizationId",
          "session"."id" as "id",
          "session"."hash" as "hash",
          "session"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on (
            (
              "named"."organizationId" = "apiKeys"."organizationId"
              and "named"."id" = + :apiKeyId
            )
            and (
              "named"."revokedAt" is null
              or :descendants
            )
          )
          left join "identities" "signedIn" on (
            "signedIn"."organizationId" = "apiKeys"."organizationId"
            and "signedIn"."id" = "apiKeys"."identityId"
            and "apiKeys"."kind" = 'session'
            and not exists (
              select
                "id"
              from
                "apiKeys" "maker"
              where
                (
                  "maker"."organizationId" = "apiKeys"."organizationId"
                  and "maker"."id" = "apiKeys"."createdByKeyId"
                  and "maker"."identityId" = "apiKeys"."identityId"
                  and "maker"."kind" <> 'session'
                )
            )
          )
          inner join "apiKeys" "session" on (
            "session"."organizationId" = "apiKeys"."organizationId"
            and "session"."createdByKeyId" = "named"."id"
            and "named"."kind" = 'key'
            and "session"."identityId" is "named"."identityId"
            and (
              "session"."kind" = 'session'
              or "session"."identityId" is null
            )
            and "session"."kind" <> 'key'
            and "session"."revokedAt" is null
            and "session"."expiresAt" > :now
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
            and ("named"."id" is not null)
            and (
              (
                "apiKeys"."rotatedAt" is null
                or (
                  "named"."id" = "apiKeys"."id"
                  and not :descendants
                )
              )
            )
            and (
              (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "named"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
                or (
                  coalesce("signedIn"."role" = 'admin', false)
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
              )
            )
          )
        union
        select
          "child"."organizationId" as "organizationId",
          "child"."id" as "id",
          "child"."hash" as "hash",
          "child"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "apiKeys" "child"
          inner join "lineage" on (
            "child"."organizationId" = "lineage"."organizationId"
            and "child"."createdByKeyId" = "lineage"."id"
          )
        where
          :descendants
        union
        select
          "admitted"."organizationId" as "organizationId",
          "admitted"."id" as "id",
          "admitted"."hash" as "hash",
          "admitted"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "lineage"
          cross join "signInRules"
          cross join "identities"
          cross join "apiKeys" "admitted"
        where
          (
            :descendants
            and (
              "signInRules"."organizationId" = "lineage"."organizationId"
              and "signInRules"."createdByKeyId" = "lineage"."id"
            )
            and "identities"."organizationId" = "signInRules"."organizationId"
            and instr("identities"."ruleIds", '"' || "signInRules"."id" || '"') > 0
            and (
              "admitted"."organizationId" = "identities"."organizationId"
              and "admitted"."identityId" = "identities"."id"
              and "admitted"."identityId" is not null
              and "admitted"."revokedAt" is null
            )
          )
        union
        select
          "admitted"."organizationId" as "organizationId",
          "admitted"."id" as "id",
          "admitted"."hash" as "hash",
          "admitted"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "lineage"
          cross join "identities" indexed by "identitiesByRoleKey"
          cross join "apiKeys" "admitted"
        where
          (
            :descendants
            and (
              "identities"."organizationId" = "lineage"."organizationId"
              and "identities"."roleByKeyId" = "lineage"."id"
            )
            and (
              "admitted"."organizationId" = "identities"."organizationId"
              and "admitted"."identityId" = "identities"."id"
              and "admitted"."identityId" is not null
              and "admitted"."revokedAt" is null
            )
          )
      )
    select
      *
    from
      "lineage"
    where
      "revokedAt" is null
  ) as "ending" on true
  cross join "apiKeys" "revoked"
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
    and "revoked"."hash" = "ending"."hash"
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

-- ownDeletable.check
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
  "named"."id" as "ownId"
from
  "apiKeys"
  left join "apiKeys" "named" on "named"."hash" = "apiKeys"."hash"
where
  "apiKeys"."hash" = + :caller.keyHash;

-- ownDeletion.revoked
update "apiKeys"
set
  "revokedAt" = + :now,
  "createdByKeyId" = case
    when "ending"."isNamed"
    or not :descendants then "apiKeys"."createdByKeyId"
  end
from
  (
    with recursive
      "lineage" ("organizationId", "id", "hash", "revokedAt", "isNamed") as (
        select
          "named"."organizationId" as "organizationId",
          "named"."id" as "id",
          "named"."hash" as "hash",
          "named"."revokedAt" as "revokedAt",
          1 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on "named"."hash" = "apiKeys"."hash"
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
        union
        select
          "session"."organizationId" as "organizationId",
          "session"."id" as "id",
          "session"."hash" as "hash",
          "session"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on "named"."hash" = "apiKeys"."hash"
          inner join "apiKeys" "session" on (
            "session"."organizationId" = "apiKeys"."organizationId"
            and "session"."createdByKeyId" = "named"."id"
            and "named"."kind" = 'key'
            and "session"."identityId" is "named"."identityId"
            and (
              "session"."kind" = 'session'
              or "session"."identityId" is null
            )
            and "session"."kind" <> 'key'
            and "session"."revokedAt" is null
            and "session"."expiresAt" > :now
          )
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
        union
        select
          "child"."organizationId" as "organizationId",
          "child"."id" as "id",
          "child"."hash" as "hash",
          "child"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "apiKeys" "child"
          inner join "lineage" on (
            "child"."organizationId" = "lineage"."organizationId"
            and "child"."createdByKeyId" = "lineage"."id"
          )
        where
          :descendants
        union
        select
          "admitted"."organizationId" as "organizationId",
          "admitted"."id" as "id",
          "admitted"."hash" as "hash",
          "admitted"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "lineage"
          cross join "signInRules"
          cross join "identities"
          cross join "apiKeys" "admitted"
        where
          (
            :descendants
            and (
              "signInRules"."organizationId" = "lineage"."organizationId"
              and "signInRules"."createdByKeyId" = "lineage"."id"
            )
            and "identities"."organizationId" = "signInRules"."organizationId"
            and instr("identities"."ruleIds", '"' || "signInRules"."id" || '"') > 0
            and (
              "admitted"."organizationId" = "identities"."organizationId"
              and "admitted"."identityId" = "identities"."id"
              and "admitted"."identityId" is not null
              and "admitted"."revokedAt" is null
            )
          )
        union
        select
          "admitted"."organizationId" as "organizationId",
          "admitted"."id" as "id",
          "admitted"."hash" as "hash",
          "admitted"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "lineage"
          cross join "identities" indexed by "identitiesByRoleKey"
          cross join "apiKeys" "admitted"
        where
          (
            :descendants
            and (
              "identities"."organizationId" = "lineage"."organizationId"
              and "identities"."roleByKeyId" = "lineage"."id"
            )
            and (
              "admitted"."organizationId" = "identities"."organizationId"
              and "admitted"."identityId" = "identities"."id"
              and "admitted"."identityId" is not null
              and "admitted"."revokedAt" is null
            )
          )
      )
    select
      *
    from
      "lineage"
    where
      "revokedAt" is null
  ) as "ending"
where
  "apiKeys"."hash" = + "ending"."hash"
returning
  "id";

-- ownDeletion.revoked.recording
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
  substr(:event.id, 1, 32) || printf('%04x', 0 + row_number() over () - 1) as "id",
  case "revoked"."kind"
    when 'session' then 'api-key.session-ended'
    when 'grant' then 'api-key.app-disconnected'
    else 'api-key.revoked'
  end as "type",
  "revoked"."id" as "resourceId",
  null as "parentId",
  "revoked"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join (
    with recursive
      "lineage" ("organizationId", "id", "hash", "revokedAt", "isNamed") as (
        select
          "named"."organizationId" as "organizationId",
          "named"."id" as "id",
          "named"."hash" as "hash",
          "named"."revokedAt" as "revokedAt",
          1 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on "named"."hash" = "apiKeys"."hash"
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
        union
        select
          "session"."organizationId" as "organizationId",
          "session"."id" as "id",
          "session"."hash" as "hash",
          "session"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "apiKeys"
          left join "apiKeys" "named" on "named"."hash" = "apiKeys"."hash"
          inner join "apiKeys" "session" on (
            "session"."organizationId" = "apiKeys"."organizationId"
            and "session"."createdByKeyId" = "named"."id"
            and "named"."kind" = 'key'
            and "session"."identityId" is "named"."identityId"
            and (
              "session"."kind" = 'session'
              or "session"."identityId" is null
            )
            and "session"."kind" <> 'key'
            and "session"."revokedAt" is null
            and "session"."expiresAt" > :now
          )
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
        union
        select
          "child"."organizationId" as "organizationId",
          "child"."id" as "id",
          "child"."hash" as "hash",
          "child"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "apiKeys" "child"
          inner join "lineage" on (
            "child"."organizationId" = "lineage"."organizationId"
            and "child"."createdByKeyId" = "lineage"."id"
          )
        where
          :descendants
        union
        select
          "admitted"."organizationId" as "organizationId",
          "admitted"."id" as "id",
          "admitted"."hash" as "hash",
          "admitted"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "lineage"
          cross join "signInRules"
          cross join "identities"
          cross join "apiKeys" "admitted"
        where
          (
            :descendants
            and (
              "signInRules"."organizationId" = "lineage"."organizationId"
              and "signInRules"."createdByKeyId" = "lineage"."id"
            )
            and "identities"."organizationId" = "signInRules"."organizationId"
            and instr("identities"."ruleIds", '"' || "signInRules"."id" || '"') > 0
            and (
              "admitted"."organizationId" = "identities"."organizationId"
              and "admitted"."identityId" = "identities"."id"
              and "admitted"."identityId" is not null
              and "admitted"."revokedAt" is null
            )
          )
        union
        select
          "admitted"."organizationId" as "organizationId",
          "admitted"."id" as "id",
          "admitted"."hash" as "hash",
          "admitted"."revokedAt" as "revokedAt",
          0 as "isNamed"
        from
          "lineage"
          cross join "identities" indexed by "identitiesByRoleKey"
          cross join "apiKeys" "admitted"
        where
          (
            :descendants
            and (
              "identities"."organizationId" = "lineage"."organizationId"
              and "identities"."roleByKeyId" = "lineage"."id"
            )
            and (
              "admitted"."organizationId" = "identities"."organizationId"
              and "admitted"."identityId" = "identities"."id"
              and "admitted"."identityId" is not null
              and "admitted"."revokedAt" is null
            )
          )
      )
    select
      *
    from
      "lineage"
    where
      "revokedAt" is null
  ) as "ending" on true
  cross join "apiKeys" "revoked"
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
    and "revoked"."hash" = "ending"."hash"
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

-- recordDeletedInvitations
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
  left join "apiKeys" "named" on (
    (
      "named"."organizationId" = "apiKeys"."organizationId"
      and "named"."id" = + :apiKeyId
    )
    and (
      "named"."revokedAt" is null
      or :descendants
    )
  )
  left join "identities" "signedIn" on (
    "signedIn"."organizationId" = "apiKeys"."organizationId"
    and "signedIn"."id" = "apiKeys"."identityId"
    and "apiKeys"."kind" = 'session'
    and not exists (
      select
        "id"
      from
        "apiKeys" "maker"
      where
        (
          "maker"."organizationId" = "apiKeys"."organizationId"
          and "maker"."id" = "apiKeys"."createdByKeyId"
          and "maker"."identityId" = "apiKeys"."identityId"
          and "maker"."kind" <> 'session'
        )
    )
  )
  inner join "invitations" on (
    "invitations"."organizationId" = "apiKeys"."organizationId"
    and "invitations"."createdByKeyId" = + :apiKeyId
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
      and ("named"."id" is not null)
      and (
        (
          "apiKeys"."rotatedAt" is null
          or (
            "named"."id" = "apiKeys"."id"
            and not :descendants
          )
        )
      )
      and (
        (
          (
            (
              "apiKeys"."userId" is null
              or "apiKeys"."userId" is "named"."userId"
            )
            and (
              "apiKeys"."projectIds" is null
              or (
                "named"."projectIds" is not null
                and not exists (
                  select
                    1
                  from
                    json_each("named"."projectIds")
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
          or (
            coalesce("signedIn"."role" = 'admin', false)
            and (
              "apiKeys"."projectIds" is null
              or (
                "named"."projectIds" is not null
                and not exists (
                  select
                    1
                  from
                    json_each("named"."projectIds")
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
        )
      )
    )
    and (
      "apiKeys"."projectIds" is null
      and :descendants
      and "invitations"."acceptedAt" is null
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
    )
  );

-- recordDeletedRules
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
  left join "apiKeys" "named" on (
    (
      "named"."organizationId" = "apiKeys"."organizationId"
      and "named"."id" = + :apiKeyId
    )
    and (
      "named"."revokedAt" is null
      or :descendants
    )
  )
  left join "identities" "signedIn" on (
    "signedIn"."organizationId" = "apiKeys"."organizationId"
    and "signedIn"."id" = "apiKeys"."identityId"
    and "apiKeys"."kind" = 'session'
    and not exists (
      select
        "id"
      from
        "apiKeys" "maker"
      where
        (
          "maker"."organizationId" = "apiKeys"."organizationId"
          and "maker"."id" = "apiKeys"."createdByKeyId"
          and "maker"."identityId" = "apiKeys"."identityId"
          and "maker"."kind" <> 'session'
        )
    )
  )
  inner join "signInRules" on (
    "signInRules"."organizationId" = "apiKeys"."organizationId"
    and "signInRules"."createdByKeyId" = + :apiKeyId
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
      and ("named"."id" is not null)
      and (
        (
          "apiKeys"."rotatedAt" is null
          or (
            "named"."id" = "apiKeys"."id"
            and not :descendants
          )
        )
      )
      and (
        (
          (
            (
              "apiKeys"."userId" is null
              or "apiKeys"."userId" is "named"."userId"
            )
            and (
              "apiKeys"."projectIds" is null
              or (
                "named"."projectIds" is not null
                and not exists (
                  select
                    1
                  from
                    json_each("named"."projectIds")
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
          or (
            coalesce("signedIn"."role" = 'admin', false)
            and (
              "apiKeys"."projectIds" is null
              or (
                "named"."projectIds" is not null
                and not exists (
                  select
                    1
                  from
                    json_each("named"."projectIds")
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
        )
      )
    )
    and (
      "apiKeys"."projectIds" is null
      and :descendants
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

-- recordTakenRoles
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
  substr(:event.id, 1, 32) || printf('%04x', 57344 + row_number() over () - 1) as "id",
  'identity.updated' as "type",
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
  left join "apiKeys" "named" on (
    (
      "named"."organizationId" = "apiKeys"."organizationId"
      and "named"."id" = + :apiKeyId
    )
    and (
      "named"."revokedAt" is null
      or :descendants
    )
  )
  left join "identities" "signedIn" on (
    "signedIn"."organizationId" = "apiKeys"."organizationId"
    and "signedIn"."id" = "apiKeys"."identityId"
    and "apiKeys"."kind" = 'session'
    and not exists (
      select
        "id"
      from
        "apiKeys" "maker"
      where
        (
          "maker"."organizationId" = "apiKeys"."organizationId"
          and "maker"."id" = "apiKeys"."createdByKeyId"
          and "maker"."identityId" = "apiKeys"."identityId"
          and "maker"."kind" <> 'session'
        )
    )
  )
  inner join "identities" indexed by "identitiesByRoleKey" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."roleByKeyId" = + :apiKeyId
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
      and ("named"."id" is not null)
      and (
        (
          "apiKeys"."rotatedAt" is null
          or (
            "named"."id" = "apiKeys"."id"
            and not :descendants
          )
        )
      )
      and (
        (
          (
            (
              "apiKeys"."userId" is null
              or "apiKeys"."userId" is "named"."userId"
            )
            and (
              "apiKeys"."projectIds" is null
              or (
                "named"."projectIds" is not null
                and not exists (
                  select
                    1
                  from
                    json_each("named"."projectIds")
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
          or (
            coalesce("signedIn"."role" = 'admin', false)
            and (
              "apiKeys"."projectIds" is null
              or (
                "named"."projectIds" is not null
                and not exists (
                  select
                    1
                  from
                    json_each("named"."projectIds")
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
        )
      )
    )
    and (
      "apiKeys"."projectIds" is null
      and :descendants
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
              and "recorded"."id" = substr(:event.id, 1, 32) || printf('%04x', 57344 + 0)
            )
        )
      )
    )
  );

-- recordUnlinkedIdentities
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
  left join "apiKeys" "named" on (
    (
      "named"."organizationId" = "apiKeys"."organizationId"
      and "named"."id" = + :apiKeyId
    )
    and (
      "named"."revokedAt" is null
      or :descendants
    )
  )
  left join "identities" "signedIn" on (
    "signedIn"."organizationId" = "apiKeys"."organizationId"
    and "signedIn"."id" = "apiKeys"."identityId"
    and "apiKeys"."kind" = 'session'
    and not exists (
      select
        "id"
      from
        "apiKeys" "maker"
      where
        (
          "maker"."organizationId" = "apiKeys"."organizationId"
          and "maker"."id" = "apiKeys"."createdByKeyId"
          and "maker"."identityId" = "apiKeys"."identityId"
          and "maker"."kind" <> 'session'
        )
    )
  )
  inner join "identities" indexed by "identitiesByLinkKey" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."linkedByKeyId" = + :apiKeyId
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
      and ("named"."id" is not null)
      and (
        (
          "apiKeys"."rotatedAt" is null
          or (
            "named"."id" = "apiKeys"."id"
            and not :descendants
          )
        )
      )
      and (
        (
          (
            (
              "apiKeys"."userId" is null
              or "apiKeys"."userId" is "named"."userId"
            )
            and (
              "apiKeys"."projectIds" is null
              or (
                "named"."projectIds" is not null
                and not exists (
                  select
                    1
                  from
                    json_each("named"."projectIds")
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
          or (
            coalesce("signedIn"."role" = 'admin', false)
            and (
              "apiKeys"."projectIds" is null
              or (
                "named"."projectIds" is not null
                and not exists (
                  select
                    1
                  from
                    json_each("named"."projectIds")
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
        )
      )
    )
    and (
      "apiKeys"."projectIds" is null
      and :descendants
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
    )
  );

-- takeRoles
update "identities"
set
  "ruleIds" = + '[]',
  "roleByKeyId" = + null
where
  ("identities"."organizationId", "identities"."id") in (
    select
      "identities"."organizationId",
      "identities"."id"
    from
      "identities" indexed by "identitiesByRoleKey"
    where
      (
        "identities"."organizationId" = (
          select
            "apiKeys"."organizationId"
          from
            "apiKeys"
            inner join "apiKeys" "named" on (
              (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = + :apiKeyId
              )
              and "named"."revokedAt" is not null
            )
            left join "identities" "signedIn" on (
              "signedIn"."organizationId" = "apiKeys"."organizationId"
              and "signedIn"."id" = "apiKeys"."identityId"
              and "apiKeys"."kind" = 'session'
              and not exists (
                select
                  "id"
                from
                  "apiKeys" "maker"
                where
                  (
                    "maker"."organizationId" = "apiKeys"."organizationId"
                    and "maker"."id" = "apiKeys"."createdByKeyId"
                    and "maker"."identityId" = "apiKeys"."identityId"
                    and "maker"."kind" <> 'session'
                  )
              )
            )
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
              and "apiKeys"."projectIds" is null
              and "apiKeys"."rotatedAt" is null
              and (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "named"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
                or (
                  coalesce("signedIn"."role" = 'admin', false)
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
              )
              and :descendants
            )
        )
        and "identities"."roleByKeyId" = + :apiKeyId
      )
  );

-- unlinkIdentities
delete from "identities"
where
  ("identities"."organizationId", "identities"."id") in (
    select
      "identities"."organizationId",
      "identities"."id"
    from
      "identities" indexed by "identitiesByLinkKey"
    where
      (
        "identities"."organizationId" = (
          select
            "apiKeys"."organizationId"
          from
            "apiKeys"
            inner join "apiKeys" "named" on (
              (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = + :apiKeyId
              )
              and "named"."revokedAt" is not null
            )
            left join "identities" "signedIn" on (
              "signedIn"."organizationId" = "apiKeys"."organizationId"
              and "signedIn"."id" = "apiKeys"."identityId"
              and "apiKeys"."kind" = 'session'
              and not exists (
                select
                  "id"
                from
                  "apiKeys" "maker"
                where
                  (
                    "maker"."organizationId" = "apiKeys"."organizationId"
                    and "maker"."id" = "apiKeys"."createdByKeyId"
                    and "maker"."identityId" = "apiKeys"."identityId"
                    and "maker"."kind" <> 'session'
                  )
              )
            )
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
              and "apiKeys"."projectIds" is null
              and "apiKeys"."rotatedAt" is null
              and (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "named"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
                or (
                  coalesce("signedIn"."role" = 'admin', false)
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
              )
              and :descendants
            )
        )
        and "identities"."linkedByKeyId" = + :apiKeyId
      )
  );

-- src/resources/api-keys/grants.ts

-- connectable.check
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
  "apiKeys"."kind" = 'session' as "callerIsSession",
  not exists (
    select
      1
    from
      "apiKeys" "grant"
    where
      (
        "grant"."organizationId" = "apiKeys"."organizationId"
        and "grant"."idempotencyKey" = + :consentHash
      )
  ) as "consentIsNew",
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
  json_array_length(
    (
      select
        json_group_array(value)
      from
        json_each(:scopes)
      where
        value in (
          select
            value
          from
            json_each("apiKeys"."scopes")
        )
    )
  ) > 0 as "grantsSomething",
  (
    "apiKeys"."projectIds" is null
    or (
      coalesce(:projectIds, "apiKeys"."projectIds") is not null
      and not exists (
        select
          1
        from
          json_each(coalesce(:projectIds, "apiKeys"."projectIds"))
        where
          value not in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
      )
    )
  ) as "projectsAreAccessible",
  (
    select
      count(*)
    from
      (
        (
          select
            1
          from
            "apiKeys" "grant"
          where
            (
              (
                "grant"."organizationId" = "apiKeys"."organizationId"
                and "grant"."kind" = 'grant'
                and "grant"."revokedAt" is null
                and "grant"."expiresAt" > :now
              )
              and "apiKeys"."identityId" is null
              and "grant"."createdByKeyId" = "apiKeys"."createdByKeyId"
            )
          union all
          select
            1
          from
            "apiKeys" "grant"
          where
            (
              (
                "grant"."organizationId" = "apiKeys"."organizationId"
                and "grant"."kind" = 'grant'
                and "grant"."revokedAt" is null
                and "grant"."expiresAt" > :now
              )
              and "grant"."identityId" = "apiKeys"."identityId"
            )
        )
      )
  ) < 50 as "withinLimit"
from
  "apiKeys"
  left join "apiKeys" "creator" on (
    "creator"."organizationId" = "apiKeys"."organizationId"
    and "creator"."id" = "apiKeys"."createdByKeyId"
    and "apiKeys"."identityId" is null
  )
  left join "identities" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."id" = "apiKeys"."identityId"
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- disconnectApp
update "apiKeys"
set
  "revokedAt" = + :now
where
  (
    "apiKeys"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "apiKeys" "grant" on (
          "grant"."organizationId" = "apiKeys"."organizationId"
          and "grant"."id" = + :apiKeyId
          and "grant"."kind" = 'grant'
          and "grant"."revokedAt" is null
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
          and ("grant"."id" is not null)
          and ("apiKeys"."rotatedAt" is null)
          and (
            (
              (
                (
                  "apiKeys"."userId" is null
                  or "apiKeys"."userId" is "grant"."userId"
                )
                and (
                  "apiKeys"."projectIds" is null
                  or (
                    "grant"."projectIds" is not null
                    and not exists (
                      select
                        1
                      from
                        json_each("grant"."projectIds")
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
                "grant"."identityId" = "apiKeys"."identityId"
                or (
                  "grant"."identityId" is null
                  and "apiKeys"."identityId" is null
                  and "grant"."createdByKeyId" = case "apiKeys"."kind"
                    when 'key' then "apiKeys"."id"
                    else "apiKeys"."createdByKeyId"
                  end
                )
              )
            )
          )
        )
    )
    and "apiKeys"."id" = + :apiKeyId
  )
returning
  "id";

-- disconnectApp.recording
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
  'api-key.app-disconnected' as "type",
  "grant"."id" as "resourceId",
  null as "parentId",
  "grant"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  left join "apiKeys" "grant" on (
    "grant"."organizationId" = "apiKeys"."organizationId"
    and "grant"."id" = + :apiKeyId
    and "grant"."kind" = 'grant'
    and "grant"."revokedAt" is null
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
      and ("grant"."id" is not null)
      and ("apiKeys"."rotatedAt" is null)
      and (
        (
          (
            (
              "apiKeys"."userId" is null
              or "apiKeys"."userId" is "grant"."userId"
            )
            and (
              "apiKeys"."projectIds" is null
              or (
                "grant"."projectIds" is not null
                and not exists (
                  select
                    1
                  from
                    json_each("grant"."projectIds")
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
            "grant"."identityId" = "apiKeys"."identityId"
            or (
              "grant"."identityId" is null
              and "apiKeys"."identityId" is null
              and "grant"."createdByKeyId" = case "apiKeys"."kind"
                when 'key' then "apiKeys"."id"
                else "apiKeys"."createdByKeyId"
              end
            )
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

-- disconnectable.check
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
  "grant"."id" is not null as "appExists",
  "apiKeys"."rotatedAt" is null as "callerIsUnrotated",
  (
    (
      (
        "apiKeys"."userId" is null
        or "apiKeys"."userId" is "grant"."userId"
      )
      and (
        "apiKeys"."projectIds" is null
        or (
          "grant"."projectIds" is not null
          and not exists (
            select
              1
            from
              json_each("grant"."projectIds")
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
      "grant"."identityId" = "apiKeys"."identityId"
      or (
        "grant"."identityId" is null
        and "apiKeys"."identityId" is null
        and "grant"."createdByKeyId" = case "apiKeys"."kind"
          when 'key' then "apiKeys"."id"
          else "apiKeys"."createdByKeyId"
        end
      )
    )
  ) as "appIsOwn"
from
  "apiKeys"
  left join "apiKeys" "grant" on (
    "grant"."organizationId" = "apiKeys"."organizationId"
    and "grant"."id" = + :apiKeyId
    and "grant"."kind" = 'grant'
    and "grant"."revokedAt" is null
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- insertGrant
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
  "apiKeys"."organizationId" as "organizationId",
  :id as "id",
  :name as "name",
  'grant' as "kind",
  :hash as "hash",
  (
    select
      json_group_array(value)
    from
      json_each(:scopes)
    where
      value in (
        select
          value
        from
          json_each("apiKeys"."scopes")
      )
  ) as "scopes",
  "apiKeys"."userId" as "userId",
  coalesce(:projectIds, "apiKeys"."projectIds") as "projectIds",
  min(
    min(:grantEndsAt, coalesce("creator"."expiresAt", :grantEndsAt)),
    coalesce(
      strftime('%Y-%m-%dT%H:%M:%fZ', "identities"."lastSignInAt", :idleTime),
      min(:grantEndsAt, coalesce("creator"."expiresAt", :grantEndsAt))
    )
  ) as "expiresAt",
  null as "revokedAt",
  null as "rotatedAt",
  null as "lastUsedAt",
  :now as "createdAt",
  :consentHash as "idempotencyKey",
  case
    when "apiKeys"."identityId" is null then "apiKeys"."createdByKeyId"
    else "apiKeys"."id"
  end as "createdByKeyId",
  "apiKeys"."identityId" as "identityId",
  :clientId as "clientId",
  :name as "clientName",
  :redirectHost as "redirectHost",
  min(:grantEndsAt, coalesce("creator"."expiresAt", :grantEndsAt)) as "grantEndsAt",
  null as "redeemedAt",
  null as "movedTo",
  null as "suspendedAt"
from
  "apiKeys"
  left join "apiKeys" "creator" on (
    "creator"."organizationId" = "apiKeys"."organizationId"
    and "creator"."id" = "apiKeys"."createdByKeyId"
    and "apiKeys"."identityId" is null
  )
  left join "identities" on (
    "identities"."organizationId" = "apiKeys"."organizationId"
    and "identities"."id" = "apiKeys"."identityId"
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
    and ("apiKeys"."kind" = 'session')
    and (
      not exists (
        select
          1
        from
          "apiKeys" "grant"
        where
          (
            "grant"."organizationId" = "apiKeys"."organizationId"
            and "grant"."idempotencyKey" = + :consentHash
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
      json_array_length(
        (
          select
            json_group_array(value)
          from
            json_each(:scopes)
          where
            value in (
              select
                value
              from
                json_each("apiKeys"."scopes")
            )
        )
      ) > 0
    )
    and (
      (
        "apiKeys"."projectIds" is null
        or (
          coalesce(:projectIds, "apiKeys"."projectIds") is not null
          and not exists (
            select
              1
            from
              json_each(coalesce(:projectIds, "apiKeys"."projectIds"))
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
      (
        select
          count(*)
        from
          (
            (
              select
                1
              from
                "apiKeys" "grant"
              where
                (
                  (
                    "grant"."organizationId" = "apiKeys"."organizationId"
                    and "grant"."kind" = 'grant'
                    and "grant"."revokedAt" is null
                    and "grant"."expiresAt" > :now
                  )
                  and "apiKeys"."identityId" is null
                  and "grant"."createdByKeyId" = "apiKeys"."createdByKeyId"
                )
              union all
              select
                1
              from
                "apiKeys" "grant"
              where
                (
                  (
                    "grant"."organizationId" = "apiKeys"."organizationId"
                    and "grant"."kind" = 'grant'
                    and "grant"."revokedAt" is null
                    and "grant"."expiresAt" > :now
                  )
                  and "grant"."identityId" = "apiKeys"."identityId"
                )
            )
          )
      ) < 50
    )
  )
returning
  "id",
  "grantEndsAt",
  "expiresAt";

-- insertGrant.recording
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
  'api-key.app-connected' as "type",
  :id as "resourceId",
  null as "parentId",
  :name as "resourceName",
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

-- redeemCode
update "apiKeys"
set
  "redeemedAt" = + :now
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
      and "apiKeys"."kind" = 'grant'
    )
    and "apiKeys"."redeemedAt" is null
  )
returning
  "id";

-- restoreCode
update "apiKeys"
set
  "redeemedAt" = + null
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
    and "apiKeys"."kind" = 'grant'
  );

-- src/resources/api-keys/rotation.ts

-- insertSuccessor
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
  "named"."organizationId" as "organizationId",
  :id as "id",
  "named"."name" as "name",
  "named"."kind" as "kind",
  :hash as "hash",
  "named"."scopes" as "scopes",
  "named"."userId" as "userId",
  "named"."projectIds" as "projectIds",
  "named"."expiresAt" as "expiresAt",
  null as "revokedAt",
  null as "rotatedAt",
  null as "lastUsedAt",
  :now as "createdAt",
  :idempotencyKey as "idempotencyKey",
  "apiKeys"."id" as "createdByKeyId",
  coalesce("named"."identityId", "apiKeys"."identityId") as "identityId",
  null as "clientId",
  null as "clientName",
  null as "redirectHost",
  null as "grantEndsAt",
  null as "redeemedAt",
  null as "movedTo",
  null as "suspendedAt"
from
  "apiKeys"
  left join "apiKeys" "named" on (
    (
      "named"."organizationId" = "apiKeys"."organizationId"
      and "named"."id" = + :apiKeyId
    )
    and "named"."revokedAt" is null
  )
  left join "apiKeys" "earlier" on (
    "earlier"."organizationId" = "apiKeys"."organizationId"
    and "earlier"."idempotencyKey" = + :idempotencyKey
    and "earlier"."id" <> :id
  )
  left join "identities" "signedIn" on (
    "signedIn"."organizationId" = "apiKeys"."organizationId"
    and "signedIn"."id" = "apiKeys"."identityId"
    and "apiKeys"."kind" = 'session'
    and not exists (
      select
        "id"
      from
        "apiKeys" "maker"
      where
        (
          "maker"."organizationId" = "apiKeys"."organizationId"
          and "maker"."id" = "apiKeys"."createdByKeyId"
          and "maker"."identityId" = "apiKeys"."identityId"
          and "maker"."kind" <> 'session'
        )
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
    and ("named"."id" is not null)
    and (
      (
        "apiKeys"."rotatedAt" is null
        or "named"."id" = "apiKeys"."id"
      )
    )
    and (
      (
        (
          "apiKeys"."userId" is null
          or "apiKeys"."userId" is "named"."userId"
        )
        and (
          "apiKeys"."projectIds" is null
          or (
            "named"."projectIds" is not null
            and not exists (
              select
                1
              from
                json_each("named"."projectIds")
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
    )
    and ("named"."kind" = 'key')
    and (
      (
        (
          "apiKeys"."expiresAt" is null
          or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
        )
        or "apiKeys"."createdAt" > strftime('%Y-%m-%dT%H:%M:%fZ', :now, '-10 minutes')
        or not "signedIn"."id" is not null
        or not (
          not exists (
            select
              1
            from
              json_each("named"."scopes")
            where
              coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
          )
          and coalesce("named"."expiresAt" <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'), false)
        )
      )
    )
    and (
      not exists (
        select
          1
        from
          json_each("named"."scopes")
        where
          coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
      )
    )
    and (
      (
        (
          "apiKeys"."expiresAt" is null
          or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
        )
        or (
          coalesce("named"."expiresAt" <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'), false)
          and "signedIn"."id" is not null
        )
      )
    )
    and "earlier"."id" is null
    and ("named"."rotatedAt" is null)
    and (
      (
        "named"."expiresAt" is null
        or "named"."expiresAt" > :now
      )
    )
  )
returning
  "id",
  "name",
  "kind",
  "scopes",
  "userId",
  "projectIds",
  "expiresAt",
  "rotatedAt",
  "lastUsedAt",
  "createdAt",
  "createdByKeyId",
  "identityId",
  case
    when "clientId" is not null then json_object(
      'clientId',
      "clientId",
      'name',
      "clientName",
      'redirectHost',
      "redirectHost",
      'endsAt',
      "grantEndsAt"
    )
  end as "app";

-- insertSuccessor.recording
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
  'api-key.rotated' as "type",
  "named"."id" as "resourceId",
  null as "parentId",
  "named"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join "apiKeys" "named" on (
    "named"."organizationId" = "apiKeys"."organizationId"
    and "named"."id" = + :apiKeyId
  )
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

-- moveFeeds
update "skillFeeds"
set
  "apiKeyId" = + :id
where
  (
    "skillFeeds"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "apiKeys" "named" on (
          (
            "named"."organizationId" = "apiKeys"."organizationId"
            and "named"."id" = + :apiKeyId
          )
          and "named"."revokedAt" is null
        )
        left join "apiKeys" "earlier" on (
          "earlier"."organizationId" = "apiKeys"."organizationId"
          and "earlier"."idempotencyKey" = + :idempotencyKey
          and "earlier"."id" <> :id
        )
        left join "identities" "signedIn" on (
          "signedIn"."organizationId" = "apiKeys"."organizationId"
          and "signedIn"."id" = "apiKeys"."identityId"
          and "apiKeys"."kind" = 'session'
          and not exists (
            select
              "id"
            from
              "apiKeys" "maker"
            where
              (
                "maker"."organizationId" = "apiKeys"."organizationId"
                and "maker"."id" = "apiKeys"."createdByKeyId"
                and "maker"."identityId" = "apiKeys"."identityId"
                and "maker"."kind" <> 'session'
              )
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
          and ("named"."id" is not null)
          and (
            (
              "apiKeys"."rotatedAt" is null
              or "named"."id" = "apiKeys"."id"
            )
          )
          and (
            (
              (
                "apiKeys"."userId" is null
                or "apiKeys"."userId" is "named"."userId"
              )
              and (
                "apiKeys"."projectIds" is null
                or (
                  "named"."projectIds" is not null
                  and not exists (
                    select
                      1
                    from
                      json_each("named"."projectIds")
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
          )
          and ("named"."kind" = 'key')
          and (
            (
              (
                "apiKeys"."expiresAt" is null
                or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
              )
              or "apiKeys"."createdAt" > strftime('%Y-%m-%dT%H:%M:%fZ', :now, '-10 minutes')
              or not "signedIn"."id" is not null
              or not (
                not exists (
                  select
                    1
                  from
                    json_each("named"."scopes")
                  where
                    coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
                )
                and coalesce("named"."expiresAt" <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'), false)
              )
            )
          )
          and (
            not exists (
              select
                1
              from
                json_each("named"."scopes")
              where
                coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
            )
          )
          and (
            (
              (
                "apiKeys"."expiresAt" is null
                or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
              )
              or (
                coalesce("named"."expiresAt" <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'), false)
                and "signedIn"."id" is not null
              )
            )
          )
          and "earlier"."id" is null
          and ("named"."rotatedAt" is null)
          and (
            (
              "named"."expiresAt" is null
              or "named"."expiresAt" > :now
            )
          )
        )
    )
    and "skillFeeds"."apiKeyId" = + :apiKeyId
  );

-- recordEndedSessions
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
  case "session"."kind"
    when 'session' then 'api-key.session-ended'
    when 'grant' then 'api-key.app-disconnected'
    else 'api-key.revoked'
  end as "type",
  "session"."id" as "resourceId",
  null as "parentId",
  "session"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join "apiKeys" "session" on "session"."hash" in (
    select
      "hash"
    from
      (
        (
          select
            "session"."id" as "id",
            "session"."hash" as "hash"
          from
            "apiKeys"
            left join "apiKeys" "named" on (
              (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = + :apiKeyId
              )
              and "named"."revokedAt" is null
            )
            left join "apiKeys" "earlier" on (
              "earlier"."organizationId" = "apiKeys"."organizationId"
              and "earlier"."idempotencyKey" = + :idempotencyKey
              and "earlier"."id" <> :id
            )
            left join "identities" "signedIn" on (
              "signedIn"."organizationId" = "apiKeys"."organizationId"
              and "signedIn"."id" = "apiKeys"."identityId"
              and "apiKeys"."kind" = 'session'
              and not exists (
                select
                  "id"
                from
                  "apiKeys" "maker"
                where
                  (
                    "maker"."organizationId" = "apiKeys"."organizationId"
                    and "maker"."id" = "apiKeys"."createdByKeyId"
                    and "maker"."identityId" = "apiKeys"."identityId"
                    and "maker"."kind" <> 'session'
                  )
              )
            )
            inner join "apiKeys" "session" on (
              (
                "session"."organizationId" = "apiKeys"."organizationId"
                and "session"."createdByKeyId" = "named"."id"
                and "named"."kind" = 'key'
                and "session"."identityId" is "named"."identityId"
                and (
                  "session"."kind" = 'session'
                  or "session"."identityId" is null
                )
                and "session"."kind" <> 'key'
                and "session"."revokedAt" is null
                and "session"."expiresAt" > :now
              )
              and "session"."expiresAt" > :overlapEndsAt
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
              and ("named"."id" is not null)
              and (
                (
                  "apiKeys"."rotatedAt" is null
                  or "named"."id" = "apiKeys"."id"
                )
              )
              and (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "named"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
              )
              and ("named"."kind" = 'key')
              and (
                (
                  (
                    "apiKeys"."expiresAt" is null
                    or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
                  )
                  or "apiKeys"."createdAt" > strftime('%Y-%m-%dT%H:%M:%fZ', :now, '-10 minutes')
                  or not "signedIn"."id" is not null
                  or not (
                    not exists (
                      select
                        1
                      from
                        json_each("named"."scopes")
                      where
                        coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
                    )
                    and coalesce("named"."expiresAt" <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'), false)
                  )
                )
              )
              and (
                not exists (
                  select
                    1
                  from
                    json_each("named"."scopes")
                  where
                    coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
                )
              )
              and (
                (
                  (
                    "apiKeys"."expiresAt" is null
                    or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
                  )
                  or (
                    coalesce("named"."expiresAt" <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'), false)
                    and "signedIn"."id" is not null
                  )
                )
              )
              and "earlier"."id" is null
              and ("named"."rotatedAt" is null)
              and (
                (
                  "named"."expiresAt" is null
                  or "named"."expiresAt" > :now
                )
              )
            )
        )
      ) as "shortened"
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
    and :overlapEndsAt <= :now
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

-- retireKey
update "apiKeys"
set
  "expiresAt" = min(coalesce("apiKeys"."expiresAt", :overlapEndsAt), :overlapEndsAt),
  "rotatedAt" = + :now
where
  (
    "apiKeys"."organizationId" = (
      select
        "apiKeys"."organizationId"
      from
        "apiKeys"
        left join "apiKeys" "named" on (
          (
            "named"."organizationId" = "apiKeys"."organizationId"
            and "named"."id" = + :apiKeyId
          )
          and "named"."revokedAt" is null
        )
        left join "apiKeys" "earlier" on (
          "earlier"."organizationId" = "apiKeys"."organizationId"
          and "earlier"."idempotencyKey" = + :idempotencyKey
          and "earlier"."id" <> :id
        )
        left join "identities" "signedIn" on (
          "signedIn"."organizationId" = "apiKeys"."organizationId"
          and "signedIn"."id" = "apiKeys"."identityId"
          and "apiKeys"."kind" = 'session'
          and not exists (
            select
              "id"
            from
              "apiKeys" "maker"
            where
              (
                "maker"."organizationId" = "apiKeys"."organizationId"
                and "maker"."id" = "apiKeys"."createdByKeyId"
                and "maker"."identityId" = "apiKeys"."identityId"
                and "maker"."kind" <> 'session'
              )
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
          and ("named"."id" is not null)
          and (
            (
              "apiKeys"."rotatedAt" is null
              or "named"."id" = "apiKeys"."id"
            )
          )
          and (
            (
              (
                "apiKeys"."userId" is null
                or "apiKeys"."userId" is "named"."userId"
              )
              and (
                "apiKeys"."projectIds" is null
                or (
                  "named"."projectIds" is not null
                  and not exists (
                    select
                      1
                    from
                      json_each("named"."projectIds")
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
          )
          and ("named"."kind" = 'key')
          and (
            (
              (
                "apiKeys"."expiresAt" is null
                or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
              )
              or "apiKeys"."createdAt" > strftime('%Y-%m-%dT%H:%M:%fZ', :now, '-10 minutes')
              or not "signedIn"."id" is not null
              or not (
                not exists (
                  select
                    1
                  from
                    json_each("named"."scopes")
                  where
                    coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
                )
                and coalesce("named"."expiresAt" <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'), false)
              )
            )
          )
          and (
            not exists (
              select
                1
              from
                json_each("named"."scopes")
              where
                coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
            )
          )
          and (
            (
              (
                "apiKeys"."expiresAt" is null
                or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
              )
              or (
                coalesce("named"."expiresAt" <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'), false)
                and "signedIn"."id" is not null
              )
            )
          )
          and "earlier"."id" is null
          and ("named"."rotatedAt" is null)
          and (
            (
              "named"."expiresAt" is null
              or "named"."expiresAt" > :now
            )
          )
        )
    )
    and "apiKeys"."id" = + :apiKeyId
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
  "named"."id" is not null as "keyExists",
  (
    "apiKeys"."rotatedAt" is null
    or "named"."id" = "apiKeys"."id"
  ) as "callerIsUnrotated",
  (
    (
      "apiKeys"."userId" is null
      or "apiKeys"."userId" is "named"."userId"
    )
    and (
      "apiKeys"."projectIds" is null
      or (
        "named"."projectIds" is not null
        and not exists (
          select
            1
          from
            json_each("named"."projectIds")
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
  ) as "keyIsAccessible",
  "named"."kind" = 'key' as "keyIsNoSession",
  (
    (
      "apiKeys"."expiresAt" is null
      or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
    )
    or "apiKeys"."createdAt" > strftime('%Y-%m-%dT%H:%M:%fZ', :now, '-10 minutes')
    or not "signedIn"."id" is not null
    or not (
      not exists (
        select
          1
        from
          json_each("named"."scopes")
        where
          coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
      )
      and coalesce("named"."expiresAt" <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'), false)
    )
  ) as "signInIsFresh",
  not exists (
    select
      1
    from
      json_each("named"."scopes")
    where
      coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
  ) as "callerHasScopes",
  (
    (
      "apiKeys"."expiresAt" is null
      or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
    )
    or (
      coalesce("named"."expiresAt" <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'), false)
      and "signedIn"."id" is not null
    )
  ) as "callerLivesAsLong",
  "earlier"."id" as "earlierKeyId",
  "named"."rotatedAt" is null as "keyIsUnrotated",
  (
    "named"."expiresAt" is null
    or "named"."expiresAt" > :now
  ) as "keyIsUnexpired"
from
  "apiKeys"
  left join "apiKeys" "named" on (
    (
      "named"."organizationId" = "apiKeys"."organizationId"
      and "named"."id" = + :apiKeyId
    )
    and "named"."revokedAt" is null
  )
  left join "apiKeys" "earlier" on (
    "earlier"."organizationId" = "apiKeys"."organizationId"
    and "earlier"."idempotencyKey" = + :idempotencyKey
    and "earlier"."id" <> :id
  )
  left join "identities" "signedIn" on (
    "signedIn"."organizationId" = "apiKeys"."organizationId"
    and "signedIn"."id" = "apiKeys"."identityId"
    and "apiKeys"."kind" = 'session'
    and not exists (
      select
        "id"
      from
        "apiKeys" "maker"
      where
        (
          "maker"."organizationId" = "apiKeys"."organizationId"
          and "maker"."id" = "apiKeys"."createdByKeyId"
          and "maker"."identityId" = "apiKeys"."identityId"
          and "maker"."kind" <> 'session'
        )
    )
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- shortenSessions
update "apiKeys"
set
  "expiresAt" = + :overlapEndsAt,
  "grantEndsAt" = min("apiKeys"."grantEndsAt", :overlapEndsAt)
where
  "apiKeys"."hash" in (
    select
      "hash"
    from
      (
        (
          select
            "session"."id" as "id",
            "session"."hash" as "hash"
          from
            "apiKeys"
            left join "apiKeys" "named" on (
              (
                "named"."organizationId" = "apiKeys"."organizationId"
                and "named"."id" = + :apiKeyId
              )
              and "named"."revokedAt" is null
            )
            left join "apiKeys" "earlier" on (
              "earlier"."organizationId" = "apiKeys"."organizationId"
              and "earlier"."idempotencyKey" = + :idempotencyKey
              and "earlier"."id" <> :id
            )
            left join "identities" "signedIn" on (
              "signedIn"."organizationId" = "apiKeys"."organizationId"
              and "signedIn"."id" = "apiKeys"."identityId"
              and "apiKeys"."kind" = 'session'
              and not exists (
                select
                  "id"
                from
                  "apiKeys" "maker"
                where
                  (
                    "maker"."organizationId" = "apiKeys"."organizationId"
                    and "maker"."id" = "apiKeys"."createdByKeyId"
                    and "maker"."identityId" = "apiKeys"."identityId"
                    and "maker"."kind" <> 'session'
                  )
              )
            )
            inner join "apiKeys" "session" on (
              (
                "session"."organizationId" = "apiKeys"."organizationId"
                and "session"."createdByKeyId" = "named"."id"
                and "named"."kind" = 'key'
                and "session"."identityId" is "named"."identityId"
                and (
                  "session"."kind" = 'session'
                  or "session"."identityId" is null
                )
                and "session"."kind" <> 'key'
                and "session"."revokedAt" is null
                and "session"."expiresAt" > :now
              )
              and "session"."expiresAt" > :overlapEndsAt
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
              and ("named"."id" is not null)
              and (
                (
                  "apiKeys"."rotatedAt" is null
                  or "named"."id" = "apiKeys"."id"
                )
              )
              and (
                (
                  (
                    "apiKeys"."userId" is null
                    or "apiKeys"."userId" is "named"."userId"
                  )
                  and (
                    "apiKeys"."projectIds" is null
                    or (
                      "named"."projectIds" is not null
                      and not exists (
                        select
                          1
                        from
                          json_each("named"."projectIds")
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
              )
              and ("named"."kind" = 'key')
              and (
                (
                  (
                    "apiKeys"."expiresAt" is null
                    or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
                  )
                  or "apiKeys"."createdAt" > strftime('%Y-%m-%dT%H:%M:%fZ', :now, '-10 minutes')
                  or not "signedIn"."id" is not null
                  or not (
                    not exists (
                      select
                        1
                      from
                        json_each("named"."scopes")
                      where
                        coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
                    )
                    and coalesce("named"."expiresAt" <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'), false)
                  )
                )
              )
              and (
                not exists (
                  select
                    1
                  from
                    json_each("named"."scopes")
                  where
                    coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
                )
              )
              and (
                (
                  (
                    "apiKeys"."expiresAt" is null
                    or coalesce("named"."expiresAt" <= "apiKeys"."expiresAt", false)
                  )
                  or (
                    coalesce("named"."expiresAt" <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'), false)
                    and "signedIn"."id" is not null
                  )
                )
              )
              and "earlier"."id" is null
              and ("named"."rotatedAt" is null)
              and (
                (
                  "named"."expiresAt" is null
                  or "named"."expiresAt" > :now
                )
              )
            )
        )
      ) as "shortened"
  );

-- src/resources/api-keys/sessions.ts

-- endOwnSessions
update "apiKeys"
set
  "revokedAt" = + :now
where
  "apiKeys"."hash" in (
    select
      "session"."hash"
    from
      "apiKeys"
      inner join "apiKeys" "session" on (
        "session"."organizationId" = "apiKeys"."organizationId"
        and "session"."userId" = "apiKeys"."userId"
        and "session"."kind" = + 'session'
        and "session"."revokedAt" is null
        and "session"."expiresAt" > :now
        and (
          "apiKeys"."projectIds" is null
          or (
            "session"."projectIds" is not null
            and not exists (
              select
                1
              from
                json_each("session"."projectIds")
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
        and ("apiKeys"."rotatedAt" is null)
        and (
          (
            "apiKeys"."kind" = + 'session'
            or not exists (
              select
                1
              from
                json_each('["api-keys:write"]')
              where
                coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
            )
          )
        )
      )
  )
returning
  "id";

-- endOwnSessions.recording
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
  substr(:event.id, 1, 32) || printf('%04x', 0 + row_number() over () - 1) as "id",
  case "session"."kind"
    when 'session' then 'api-key.session-ended'
    when 'grant' then 'api-key.app-disconnected'
    else 'api-key.revoked'
  end as "type",
  "session"."id" as "resourceId",
  null as "parentId",
  "session"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join "apiKeys" "session" on (
    "session"."organizationId" = "apiKeys"."organizationId"
    and "session"."userId" = "apiKeys"."userId"
    and "session"."kind" = + 'session'
    and "session"."revokedAt" is null
    and "session"."expiresAt" > :now
    and (
      "apiKeys"."projectIds" is null
      or (
        "session"."projectIds" is not null
        and not exists (
          select
            1
          from
            json_each("session"."projectIds")
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
      and ("apiKeys"."rotatedAt" is null)
      and (
        (
          "apiKeys"."kind" = + 'session'
          or not exists (
            select
              1
            from
              json_each('["api-keys:write"]')
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

-- endSurplusSessions
update "apiKeys"
set
  "revokedAt" = + :now
where
  "apiKeys"."hash" in (
    select
      "hash"
    from
      (
        (
          select
            "session"."id" as "id",
            "session"."hash" as "hash"
          from
            "apiKeys"
            inner join "apiKeys" "session" on (
              (
                "session"."organizationId" = "apiKeys"."organizationId"
                and "session"."createdByKeyId" = "apiKeys"."id"
                and "apiKeys"."kind" = 'key'
                and "session"."identityId" is "apiKeys"."identityId"
                and (
                  "session"."kind" = 'session'
                  or "session"."identityId" is null
                )
                and "session"."kind" <> 'key'
                and "session"."revokedAt" is null
                and "session"."expiresAt" > :now
              )
              and "session"."kind" = 'session'
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
              and ("apiKeys"."kind" = 'key')
              and ("apiKeys"."rotatedAt" is null)
              and (
                (
                  not :expiresAtIsGiven
                  or (
                    "apiKeys"."expiresAt" is null
                    or coalesce(:expiresAt <= "apiKeys"."expiresAt", false)
                  )
                )
              )
            )
          order by
            "session"."id" desc
          limit
            + 20
          offset
            19
        )
      ) as "surplus"
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
  :id as "id",
  coalesce(:name, "apiKeys"."name") as "name",
  'session' as "kind",
  :hash as "hash",
  "scopes" as "scopes",
  "userId" as "userId",
  "projectIds" as "projectIds",
  min(coalesce("apiKeys"."expiresAt", :expiresAt), :expiresAt) as "expiresAt",
  null as "revokedAt",
  null as "rotatedAt",
  null as "lastUsedAt",
  :now as "createdAt",
  null as "idempotencyKey",
  "id" as "createdByKeyId",
  "identityId" as "identityId",
  null as "clientId",
  null as "clientName",
  null as "redirectHost",
  null as "grantEndsAt",
  null as "redeemedAt",
  null as "movedTo",
  null as "suspendedAt"
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
    and ("apiKeys"."kind" = 'key')
    and ("apiKeys"."rotatedAt" is null)
    and (
      (
        not :expiresAtIsGiven
        or (
          "apiKeys"."expiresAt" is null
          or coalesce(:expiresAt <= "apiKeys"."expiresAt", false)
        )
      )
    )
  )
returning
  "id",
  "name",
  "kind",
  "scopes",
  "userId",
  "projectIds",
  "expiresAt",
  "rotatedAt",
  "lastUsedAt",
  "createdAt",
  "createdByKeyId",
  "identityId",
  case
    when "clientId" is not null then json_object(
      'clientId',
      "clientId",
      'name',
      "clientName",
      'redirectHost',
      "redirectHost",
      'endsAt',
      "grantEndsAt"
    )
  end as "app";

-- insertSession.recording
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
  'api-key.session-created' as "type",
  :id as "resourceId",
  null as "parentId",
  coalesce(:name, "apiKeys"."name") as "resourceName",
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

-- recordSurplusSessions
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
  case "session"."kind"
    when 'session' then 'api-key.session-ended'
    when 'grant' then 'api-key.app-disconnected'
    else 'api-key.revoked'
  end as "type",
  "session"."id" as "resourceId",
  null as "parentId",
  "session"."name" as "resourceName",
  null as "projectId",
  "apiKeys"."id" as "apiKeyId",
  "apiKeys"."name" as "apiKeyName",
  "apiKeys"."userId" as "userId",
  :event.requestId as "requestId"
from
  "apiKeys"
  inner join "apiKeys" "session" on "session"."hash" in (
    select
      "hash"
    from
      (
        (
          select
            "session"."id" as "id",
            "session"."hash" as "hash"
          from
            "apiKeys"
            inner join "apiKeys" "session" on (
              (
                "session"."organizationId" = "apiKeys"."organizationId"
                and "session"."createdByKeyId" = "apiKeys"."id"
                and "apiKeys"."kind" = 'key'
                and "session"."identityId" is "apiKeys"."identityId"
                and (
                  "session"."kind" = 'session'
                  or "session"."identityId" is null
                )
                and "session"."kind" <> 'key'
                and "session"."revokedAt" is null
                and "session"."expiresAt" > :now
              )
              and "session"."kind" = 'session'
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
              and ("apiKeys"."kind" = 'key')
              and ("apiKeys"."rotatedAt" is null)
              and (
                (
                  not :expiresAtIsGiven
                  or (
                    "apiKeys"."expiresAt" is null
                    or coalesce(:expiresAt <= "apiKeys"."expiresAt", false)
                  )
                )
              )
            )
          order by
            "session"."id" desc
          limit
            + 20
          offset
            19
        )
      ) as "surplus"
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

-- sessionCreatable.check
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
  "apiKeys"."kind" = 'key' as "callerIsNoSession",
  "apiKeys"."rotatedAt" is null as "callerIsUnrotated",
  (
    not :expiresAtIsGiven
    or (
      "apiKeys"."expiresAt" is null
      or coalesce(:expiresAt <= "apiKeys"."expiresAt", false)
    )
  ) as "callerLivesAsLong"
from
  "apiKeys"
where
  "apiKeys"."hash" = + :caller.keyHash;

-- sessionsDeletable.check
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
  "apiKeys"."rotatedAt" is null as "callerIsUnrotated",
  (
    "apiKeys"."kind" = + 'session'
    or not exists (
      select
        1
      from
        json_each('["api-keys:write"]')
      where
        coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
    )
  ) as "callerMaySignOut"
from
  "apiKeys"
where
  "apiKeys"."hash" = + :caller.keyHash;

-- src/resources/api-keys/statements.ts

-- creatable.check
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
  case
    when case
      when :expiresAtIsGiven then :expiresAt
      else "apiKeys"."expiresAt"
    end <= :now then case
      when :expiresAtIsGiven then :expiresAt
      else "apiKeys"."expiresAt"
    end
  end as "pastExpiresAt",
  (
    case
      when :userIdIsGiven then :userId
      else "apiKeys"."userId"
    end is null
    or exists (
      select
        "id"
      from
        "users"
      where
        (
          "users"."organizationId" = "apiKeys"."organizationId"
          and "users"."id" = case
            when :userIdIsGiven then :userId
            else "apiKeys"."userId"
          end
        )
    )
  ) as "userExists",
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
  "apiKeys"."rotatedAt" is null as "callerIsUnrotated",
  (
    (
      not exists (
        select
          1
        from
          json_each(:scopes)
        where
          coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
      )
      and (
        "apiKeys"."userId" is null
        or "apiKeys"."userId" is case
          when :userIdIsGiven then :userId
          else "apiKeys"."userId"
        end
      )
      and (
        "apiKeys"."expiresAt" is null
        or coalesce(
          case
            when :expiresAtIsGiven then :expiresAt
            else "apiKeys"."expiresAt"
          end <= "apiKeys"."expiresAt",
          false
        )
      )
    )
    or "apiKeys"."createdAt" > strftime('%Y-%m-%dT%H:%M:%fZ', :now, '-10 minutes')
    or not "signedIn"."id" is not null
    or not (
      (
        not exists (
          select
            1
          from
            json_each(:scopes)
          where
            coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
        )
        or (
          coalesce("signedIn"."role" = 'admin', false)
          and case
            when :projectIdsIsGiven then :projectIds
            else "apiKeys"."projectIds"
          end is not null
          and not exists (
            select
              1
            from
              json_each(:scopes)
            where
              value <> 'environment-variables:lease'
              and value not in (
                select
                  value
                from
                  json_each("apiKeys"."scopes")
              )
          )
        )
      )
      and (
        (
          "apiKeys"."userId" is null
          or "apiKeys"."userId" is case
            when :userIdIsGiven then :userId
            else "apiKeys"."userId"
          end
        )
        or (
          case
            when :userIdIsGiven then :userId
            else "apiKeys"."userId"
          end is null
          and coalesce("signedIn"."role" = 'admin', false)
        )
      )
      and (
        (
          "apiKeys"."expiresAt" is null
          or coalesce(
            case
              when :expiresAtIsGiven then :expiresAt
              else "apiKeys"."expiresAt"
            end <= "apiKeys"."expiresAt",
            false
          )
        )
        or coalesce(
          case
            when :expiresAtIsGiven then :expiresAt
            else "apiKeys"."expiresAt"
          end <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'),
          false
        )
      )
    )
  ) as "signInIsFresh",
  (
    not exists (
      select
        1
      from
        json_each(:scopes)
      where
        coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
    )
    or (
      coalesce("signedIn"."role" = 'admin', false)
      and case
        when :projectIdsIsGiven then :projectIds
        else "apiKeys"."projectIds"
      end is not null
      and not exists (
        select
          1
        from
          json_each(:scopes)
        where
          value <> 'environment-variables:lease'
          and value not in (
            select
              value
            from
              json_each("apiKeys"."scopes")
          )
      )
    )
  ) as "callerHasScopes",
  (
    (
      "apiKeys"."userId" is null
      or "apiKeys"."userId" is case
        when :userIdIsGiven then :userId
        else "apiKeys"."userId"
      end
    )
    or (
      case
        when :userIdIsGiven then :userId
        else "apiKeys"."userId"
      end is null
      and coalesce("signedIn"."role" = 'admin', false)
    )
  ) as "userIsAccessible",
  (
    "apiKeys"."projectIds" is null
    or (
      case
        when :projectIdsIsGiven then :projectIds
        else "apiKeys"."projectIds"
      end is not null
      and not exists (
        select
          1
        from
          json_each(
            case
              when :projectIdsIsGiven then :projectIds
              else "apiKeys"."projectIds"
            end
          )
        where
          value not in (
            select
              value
            from
              json_each("apiKeys"."projectIds")
          )
      )
    )
  ) as "projectsAreAccessible",
  (
    (
      "apiKeys"."expiresAt" is null
      or coalesce(
        case
          when :expiresAtIsGiven then :expiresAt
          else "apiKeys"."expiresAt"
        end <= "apiKeys"."expiresAt",
        false
      )
    )
    or (
      coalesce(
        case
          when :expiresAtIsGiven then :expiresAt
          else "apiKeys"."expiresAt"
        end <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'),
        false
      )
      and "signedIn"."id" is not null
    )
  ) as "callerLivesAsLong",
  "earlier"."id" as "earlierKeyId"
from
  "apiKeys"
  left join "apiKeys" "earlier" on (
    "earlier"."organizationId" = "apiKeys"."organizationId"
    and "earlier"."idempotencyKey" = + :idempotencyKey
    and "earlier"."id" <> :id
  )
  left join "identities" "signedIn" on (
    "signedIn"."organizationId" = "apiKeys"."organizationId"
    and "signedIn"."id" = "apiKeys"."identityId"
    and "apiKeys"."kind" = 'session'
    and not exists (
      select
        "id"
      from
        "apiKeys" "maker"
      where
        (
          "maker"."organizationId" = "apiKeys"."organizationId"
          and "maker"."id" = "apiKeys"."createdByKeyId"
          and "maker"."identityId" = "apiKeys"."identityId"
          and "maker"."kind" <> 'session'
        )
    )
  )
where
  "apiKeys"."hash" = + :caller.keyHash;

-- insertKey
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
  "apiKeys"."organizationId" as "organizationId",
  :id as "id",
  :name as "name",
  'key' as "kind",
  :hash as "hash",
  :scopes as "scopes",
  case
    when :userIdIsGiven then :userId
    else "apiKeys"."userId"
  end as "userId",
  case
    when :projectIdsIsGiven then :projectIds
    else "apiKeys"."projectIds"
  end as "projectIds",
  case
    when :expiresAtIsGiven then :expiresAt
    else "apiKeys"."expiresAt"
  end as "expiresAt",
  null as "revokedAt",
  null as "rotatedAt",
  null as "lastUsedAt",
  :now as "createdAt",
  :idempotencyKey as "idempotencyKey",
  "apiKeys"."id" as "createdByKeyId",
  "apiKeys"."identityId" as "identityId",
  null as "clientId",
  null as "clientName",
  null as "redirectHost",
  null as "grantEndsAt",
  null as "redeemedAt",
  null as "movedTo",
  null as "suspendedAt"
from
  "apiKeys"
  left join "apiKeys" "earlier" on (
    "earlier"."organizationId" = "apiKeys"."organizationId"
    and "earlier"."idempotencyKey" = + :idempotencyKey
    and "earlier"."id" <> :id
  )
  left join "identities" "signedIn" on (
    "signedIn"."organizationId" = "apiKeys"."organizationId"
    and "signedIn"."id" = "apiKeys"."identityId"
    and "apiKeys"."kind" = 'session'
    and not exists (
      select
        "id"
      from
        "apiKeys" "maker"
      where
        (
          "maker"."organizationId" = "apiKeys"."organizationId"
          and "maker"."id" = "apiKeys"."createdByKeyId"
          and "maker"."identityId" = "apiKeys"."identityId"
          and "maker"."kind" <> 'session'
        )
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
    and case
      when case
        when :expiresAtIsGiven then :expiresAt
        else "apiKeys"."expiresAt"
      end <= :now then case
        when :expiresAtIsGiven then :expiresAt
        else "apiKeys"."expiresAt"
      end
    end is null
    and (
      (
        case
          when :userIdIsGiven then :userId
          else "apiKeys"."userId"
        end is null
        or exists (
          select
            "id"
          from
            "users"
          where
            (
              "users"."organizationId" = "apiKeys"."organizationId"
              and "users"."id" = case
                when :userIdIsGiven then :userId
                else "apiKeys"."userId"
              end
            )
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
    and ("apiKeys"."rotatedAt" is null)
    and (
      (
        (
          not exists (
            select
              1
            from
              json_each(:scopes)
            where
              coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
          )
          and (
            "apiKeys"."userId" is null
            or "apiKeys"."userId" is case
              when :userIdIsGiven then :userId
              else "apiKeys"."userId"
            end
          )
          and (
            "apiKeys"."expiresAt" is null
            or coalesce(
              case
                when :expiresAtIsGiven then :expiresAt
                else "apiKeys"."expiresAt"
              end <= "apiKeys"."expiresAt",
              false
            )
          )
        )
        or "apiKeys"."createdAt" > strftime('%Y-%m-%dT%H:%M:%fZ', :now, '-10 minutes')
        or not "signedIn"."id" is not null
        or not (
          (
            not exists (
              select
                1
              from
                json_each(:scopes)
              where
                coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
            )
            or (
              coalesce("signedIn"."role" = 'admin', false)
              and case
                when :projectIdsIsGiven then :projectIds
                else "apiKeys"."projectIds"
              end is not null
              and not exists (
                select
                  1
                from
                  json_each(:scopes)
                where
                  value <> 'environment-variables:lease'
                  and value not in (
                    select
                      value
                    from
                      json_each("apiKeys"."scopes")
                  )
              )
            )
          )
          and (
            (
              "apiKeys"."userId" is null
              or "apiKeys"."userId" is case
                when :userIdIsGiven then :userId
                else "apiKeys"."userId"
              end
            )
            or (
              case
                when :userIdIsGiven then :userId
                else "apiKeys"."userId"
              end is null
              and coalesce("signedIn"."role" = 'admin', false)
            )
          )
          and (
            (
              "apiKeys"."expiresAt" is null
              or coalesce(
                case
                  when :expiresAtIsGiven then :expiresAt
                  else "apiKeys"."expiresAt"
                end <= "apiKeys"."expiresAt",
                false
              )
            )
            or coalesce(
              case
                when :expiresAtIsGiven then :expiresAt
                else "apiKeys"."expiresAt"
              end <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'),
              false
            )
          )
        )
      )
    )
    and (
      (
        not exists (
          select
            1
          from
            json_each(:scopes)
          where
            coalesce(instr("apiKeys"."scopes", json_quote(value)), 0) = 0
        )
        or (
          coalesce("signedIn"."role" = 'admin', false)
          and case
            when :projectIdsIsGiven then :projectIds
            else "apiKeys"."projectIds"
          end is not null
          and not exists (
            select
              1
            from
              json_each(:scopes)
            where
              value <> 'environment-variables:lease'
              and value not in (
                select
                  value
                from
                  json_each("apiKeys"."scopes")
              )
          )
        )
      )
    )
    and (
      (
        (
          "apiKeys"."userId" is null
          or "apiKeys"."userId" is case
            when :userIdIsGiven then :userId
            else "apiKeys"."userId"
          end
        )
        or (
          case
            when :userIdIsGiven then :userId
            else "apiKeys"."userId"
          end is null
          and coalesce("signedIn"."role" = 'admin', false)
        )
      )
    )
    and (
      (
        "apiKeys"."projectIds" is null
        or (
          case
            when :projectIdsIsGiven then :projectIds
            else "apiKeys"."projectIds"
          end is not null
          and not exists (
            select
              1
            from
              json_each(
                case
                  when :projectIdsIsGiven then :projectIds
                  else "apiKeys"."projectIds"
                end
              )
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
      (
        (
          "apiKeys"."expiresAt" is null
          or coalesce(
            case
              when :expiresAtIsGiven then :expiresAt
              else "apiKeys"."expiresAt"
            end <= "apiKeys"."expiresAt",
            false
          )
        )
        or (
          coalesce(
            case
              when :expiresAtIsGiven then :expiresAt
              else "apiKeys"."expiresAt"
            end <= strftime('%Y-%m-%dT%H:%M:%fZ', :now, '+90 days'),
            false
          )
          and "signedIn"."id" is not null
        )
      )
    )
    and "earlier"."id" is null
    and (
      (
        select
          count(*)
        from
          (
            (
              select
                1
              from
                "apiKeys" "counted"
              where
                (
                  "counted"."organizationId" = "apiKeys"."organizationId"
                  and "counted"."kind" = 'key'
                  and "counted"."revokedAt" is null
                  and "counted"."rotatedAt" is null
                  and "counted"."expiresAt" is null
                )
              union all
              select
                1
              from
                "apiKeys" "counted"
              where
                (
                  "counted"."organizationId" = "apiKeys"."organizationId"
                  and "counted"."kind" = 'key'
                  and "counted"."revokedAt" is null
                  and "counted"."rotatedAt" is null
                  and "counted"."expiresAt" > :now
                )
              limit
                + :quota.apiKeys
            )
          )
      ) < :quota.apiKeys
    )
  )
returning
  "id",
  "name",
  "kind",
  "scopes",
  "userId",
  "projectIds",
  "expiresAt",
  "rotatedAt",
  "lastUsedAt",
  "createdAt",
  "createdByKeyId",
  "identityId",
  case
    when "clientId" is not null then json_object(
      'clientId',
      "clientId",
      'name',
      "clientName",
      'redirectHost',
      "redirectHost",
      'endsAt',
      "grantEndsAt"
    )
  end as "app";

-- insertKey.recording
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
  'api-key.created' as "type",
  :id as "resourceId",
  null as "parentId",
  :name as "resourceName",
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

-- listKeys
select
  "named"."id",
  "named"."name",
  "named"."kind",
  "named"."scopes",
  "named"."userId",
  "named"."projectIds",
  "named"."expiresAt",
  "named"."rotatedAt",
  "named"."lastUsedAt",
  "named"."createdAt",
  "named"."createdByKeyId",
  "named"."identityId",
  case
    when "named"."clientId" is not null then json_object(
      'clientId',
      "named"."clientId",
      'name',
      "named"."clientName",
      'redirectHost',
      "named"."redirectHost",
      'endsAt',
      "named"."grantEndsAt"
    )
  end as "app"
from
  "apiKeys"
  left join "identities" "signedIn" on (
    "signedIn"."organizationId" = "apiKeys"."organizationId"
    and "signedIn"."id" = "apiKeys"."identityId"
    and "apiKeys"."kind" = 'session'
    and not exists (
      select
        "id"
      from
        "apiKeys" "maker"
      where
        (
          "maker"."organizationId" = "apiKeys"."organizationId"
          and "maker"."id" = "apiKeys"."createdByKeyId"
          and "maker"."identityId" = "apiKeys"."identityId"
          and "maker"."kind" <> 'session'
        )
    )
  )
  inner join "apiKeys" "named" on (
    "named"."organizationId" = "apiKeys"."organizationId"
    and "named"."kind" = + :kind
    and "named"."id" > :cursor
    and "named"."revokedAt" is null
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
        "apiKeys"."userId" is null
        or coalesce("signedIn"."role" = 'admin', false)
      )
      and (
        "apiKeys"."projectIds" is null
        or (
          "named"."projectIds" is not null
          and not exists (
            select
              1
            from
              json_each("named"."projectIds")
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
  )
order by
  "named"."id" asc
limit
  + :rowLimit;

-- listOwnKeys
select
  "named"."id",
  "named"."name",
  "named"."kind",
  "named"."scopes",
  "named"."userId",
  "named"."projectIds",
  "named"."expiresAt",
  "named"."rotatedAt",
  "named"."lastUsedAt",
  "named"."createdAt",
  "named"."createdByKeyId",
  "named"."identityId",
  case
    when "named"."clientId" is not null then json_object(
      'clientId',
      "named"."clientId",
      'name',
      "named"."clientName",
      'redirectHost',
      "named"."redirectHost",
      'endsAt',
      "named"."grantEndsAt"
    )
  end as "app"
from
  "apiKeys"
  left join "identities" "signedIn" on (
    "signedIn"."organizationId" = "apiKeys"."organizationId"
    and "signedIn"."id" = "apiKeys"."identityId"
    and "apiKeys"."kind" = 'session'
    and not exists (
      select
        "id"
      from
        "apiKeys" "maker"
      where
        (
          "maker"."organizationId" = "apiKeys"."organizationId"
          and "maker"."id" = "apiKeys"."createdByKeyId"
          and "maker"."identityId" = "apiKeys"."identityId"
          and "maker"."kind" <> 'session'
        )
    )
  )
  inner join "apiKeys" "named" on (
    "named"."organizationId" = "apiKeys"."organizationId"
    and "named"."kind" = + :kind
    and "named"."id" > :cursor
    and "named"."revokedAt" is null
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
        "named"."userId" = "apiKeys"."userId"
        and not coalesce("signedIn"."role" = 'admin', false)
      )
      and (
        "apiKeys"."projectIds" is null
        or (
          "named"."projectIds" is not null
          and not exists (
            select
              1
            from
              json_each("named"."projectIds")
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
  )
order by
  "named"."id" asc
limit
  + :rowLimit;
