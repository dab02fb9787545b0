ALTER TABLE `organizationUsage` ADD `projects` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `organizationUsage` ADD `agents` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `organizationUsage` ADD `users` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `organizationUsage` ADD `pullRequests` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `organizationUsage` ADD `schedules` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `organizationUsage` ADD `apiKeys` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `organizationUsage` ADD `skills` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `organizationUsage` ADD `skillBytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `organizationUsage` ADD `variables` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `organizationUsage` ADD `variableBytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- From here on each organization has a row from the start, so that the triggers only update.
REPLACE INTO `organizationUsage`
  (`organizationId`, `sessions`, `files`, `bytes`, `projects`, `agents`, `users`, `pullRequests`, `schedules`, `apiKeys`, `skills`, `skillBytes`, `variables`, `variableBytes`)
SELECT o.`id`,
  (SELECT count(*) FROM `sessions` WHERE `organizationId` = o.`id`),
  (SELECT count(*) FROM `sessionFiles` WHERE `organizationId` = o.`id`),
  (SELECT coalesce(sum(`sizeBytes`), 0) FROM `sessionFiles` WHERE `organizationId` = o.`id`),
  (SELECT count(*) FROM `projects` WHERE `organizationId` = o.`id`),
  (SELECT count(*) FROM `agents` WHERE `organizationId` = o.`id`),
  (SELECT count(*) FROM `users` WHERE `organizationId` = o.`id`),
  (SELECT count(*) FROM `pullRequests` WHERE `organizationId` = o.`id`),
  (SELECT count(*) FROM `schedules` WHERE `organizationId` = o.`id`),
  (SELECT count(*) FROM `apiKeys` WHERE `organizationId` = o.`id` AND `revokedAt` IS NULL AND `rotatedAt` IS NULL),
  (SELECT count(*) FROM `skills` WHERE `organizationId` = o.`id`),
  (SELECT coalesce(sum(octet_length(`content`)), 0) FROM `skillFiles` WHERE `organizationId` = o.`id`),
  (SELECT count(*) FROM `environmentVariables` WHERE `organizationId` = o.`id`),
  (SELECT coalesce(sum(octet_length(`sealedValue`)), 0) FROM `environmentVariables` WHERE `organizationId` = o.`id`)
FROM `organizations` AS o;--> statement-breakpoint
CREATE TRIGGER `organizationAdded` AFTER INSERT ON `organizations` BEGIN
  INSERT INTO `organizationUsage` (`organizationId`, `sessions`, `files`, `bytes`) VALUES (new.`id`, 0, 0, 0)
  ON CONFLICT DO NOTHING;
END;--> statement-breakpoint
DROP TRIGGER `sessionAdded`;--> statement-breakpoint
DROP TRIGGER `fileAdded`;--> statement-breakpoint
CREATE TRIGGER `sessionAdded` AFTER INSERT ON `sessions` BEGIN
  UPDATE `organizationUsage` SET `sessions` = `sessions` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `fileAdded` AFTER INSERT ON `sessionFiles` BEGIN
  UPDATE `organizationUsage` SET `files` = `files` + 1, `bytes` = `bytes` + new.`sizeBytes` WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `projectAdded` AFTER INSERT ON `projects` BEGIN
  UPDATE `organizationUsage` SET `projects` = `projects` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `projectRemoved` AFTER DELETE ON `projects` BEGIN
  UPDATE `organizationUsage` SET `projects` = `projects` - 1 WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `agentAdded` AFTER INSERT ON `agents` BEGIN
  UPDATE `organizationUsage` SET `agents` = `agents` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `agentRemoved` AFTER DELETE ON `agents` BEGIN
  UPDATE `organizationUsage` SET `agents` = `agents` - 1 WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `userAdded` AFTER INSERT ON `users` BEGIN
  UPDATE `organizationUsage` SET `users` = `users` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `userRemoved` AFTER DELETE ON `users` BEGIN
  UPDATE `organizationUsage` SET `users` = `users` - 1 WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `pullRequestAdded` AFTER INSERT ON `pullRequests` BEGIN
  UPDATE `organizationUsage` SET `pullRequests` = `pullRequests` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `pullRequestRemoved` AFTER DELETE ON `pullRequests` BEGIN
  UPDATE `organizationUsage` SET `pullRequests` = `pullRequests` - 1 WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `scheduleAdded` AFTER INSERT ON `schedules` BEGIN
  UPDATE `organizationUsage` SET `schedules` = `schedules` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `scheduleRemoved` AFTER DELETE ON `schedules` BEGIN
  UPDATE `organizationUsage` SET `schedules` = `schedules` - 1 WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `skillAdded` AFTER INSERT ON `skills` BEGIN
  UPDATE `organizationUsage` SET `skills` = `skills` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `skillRemoved` AFTER DELETE ON `skills` BEGIN
  UPDATE `organizationUsage` SET `skills` = `skills` - 1 WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `skillFileAdded` AFTER INSERT ON `skillFiles` BEGIN
  UPDATE `organizationUsage` SET `skillBytes` = `skillBytes` + octet_length(new.`content`) WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `skillFileReplaced` AFTER UPDATE OF `content` ON `skillFiles`
WHEN octet_length(new.`content`) <> octet_length(old.`content`) BEGIN
  UPDATE `organizationUsage` SET `skillBytes` = `skillBytes` - octet_length(old.`content`) + octet_length(new.`content`) WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `skillFileRemoved` AFTER DELETE ON `skillFiles` BEGIN
  UPDATE `organizationUsage` SET `skillBytes` = `skillBytes` - octet_length(old.`content`) WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `variableAdded` AFTER INSERT ON `environmentVariables` BEGIN
  UPDATE `organizationUsage` SET `variables` = `variables` + 1, `variableBytes` = `variableBytes` + octet_length(new.`sealedValue`) WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `variableReplaced` AFTER UPDATE OF `sealedValue` ON `environmentVariables`
WHEN octet_length(new.`sealedValue`) <> octet_length(old.`sealedValue`) BEGIN
  UPDATE `organizationUsage` SET `variableBytes` = `variableBytes` - octet_length(old.`sealedValue`) + octet_length(new.`sealedValue`) WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `variableRemoved` AFTER DELETE ON `environmentVariables` BEGIN
  UPDATE `organizationUsage` SET `variables` = `variables` - 1, `variableBytes` = `variableBytes` - octet_length(old.`sealedValue`) WHERE `organizationId` = old.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `apiKeyAdded` AFTER INSERT ON `apiKeys`
WHEN new.`revokedAt` IS NULL AND new.`rotatedAt` IS NULL BEGIN
  UPDATE `organizationUsage` SET `apiKeys` = `apiKeys` + 1 WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `apiKeyEnded` AFTER UPDATE OF `revokedAt`, `rotatedAt` ON `apiKeys`
WHEN (old.`revokedAt` IS NULL AND old.`rotatedAt` IS NULL) <> (new.`revokedAt` IS NULL AND new.`rotatedAt` IS NULL) BEGIN
  UPDATE `organizationUsage` SET `apiKeys` = `apiKeys` - (old.`revokedAt` IS NULL AND old.`rotatedAt` IS NULL) + (new.`revokedAt` IS NULL AND new.`rotatedAt` IS NULL) WHERE `organizationId` = new.`organizationId`;
END;--> statement-breakpoint
CREATE TRIGGER `apiKeyRemoved` AFTER DELETE ON `apiKeys`
WHEN old.`revokedAt` IS NULL AND old.`rotatedAt` IS NULL BEGIN
  UPDATE `organizationUsage` SET `apiKeys` = `apiKeys` - 1 WHERE `organizationId` = old.`organizationId`;
END;
