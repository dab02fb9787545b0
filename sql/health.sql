-- src/health.ts

-- selectMigration
select
  "name"
from
  "d1_migrations"
where
  "d1_migrations"."name" = :name;

-- selectOne
select
  1 as "one"
from
  (
    select
      1
  );
