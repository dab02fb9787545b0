-- src/health.ts

-- selectMigration
select
  "name"
from
  "d1_migrations"
where
  "d1_migrations"."name" = + :name;
