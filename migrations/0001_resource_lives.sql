-- Every resource gets its whole life: times of change, deletion, contents of session files, idempotent requests.
CREATE TABLE `deletions` (
	`organizationId` text NOT NULL,
	`resourceType` text NOT NULL,
	`resourceId` text NOT NULL,
	`projectId` text,
	`deletedAt` text NOT NULL,
	`purgedAt` text,
	PRIMARY KEY(`organizationId`, `resourceType`, `resourceId`)
);
--> statement-breakpoint
CREATE INDEX `deletionsToPurge` ON `deletions` (`purgedAt`,`deletedAt`) WHERE "purgedAt" is null;
--> statement-breakpoint
INSERT INTO `deletions` (`organizationId`, `resourceType`, `resourceId`, `projectId`, `deletedAt`)
SELECT `organizationId`, 'session', `id`, `projectId`, `deletedAt` FROM `sessions` WHERE `deletedAt` IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `variableRequests` (
	`organizationId` text NOT NULL,
	`projectId` text NOT NULL,
	`idempotencyKey` text NOT NULL,
	`idempotencyFingerprint` text NOT NULL,
	`createdAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `projectId`, `idempotencyKey`)
);
--> statement-breakpoint
CREATE INDEX `variableRequestsByAge` ON `variableRequests` (`createdAt`);
--> statement-breakpoint
CREATE TABLE `__new_users` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
);
--> statement-breakpoint
INSERT INTO `__new_users` (`organizationId`, `id`, `name`, `createdAt`, `updatedAt`)
SELECT `organizationId`, `id`, `name`, `createdAt`, `createdAt` FROM `users`;
--> statement-breakpoint
DROP TABLE `users`;
--> statement-breakpoint
ALTER TABLE `__new_users` RENAME TO `users`;
--> statement-breakpoint
CREATE TABLE `__new_projects` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`archivedAt` text,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
);
--> statement-breakpoint
INSERT INTO `__new_projects` (`organizationId`, `id`, `name`, `archivedAt`, `createdAt`, `updatedAt`)
SELECT `organizationId`, `id`, `name`, `archivedAt`, `createdAt`, `createdAt` FROM `projects`;
--> statement-breakpoint
DROP TABLE `projects`;
--> statement-breakpoint
ALTER TABLE `__new_projects` RENAME TO `projects`;
--> statement-breakpoint
CREATE TABLE `__new_agents` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`archivedAt` text,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
);
--> statement-breakpoint
INSERT INTO `__new_agents` (`organizationId`, `id`, `name`, `archivedAt`, `createdAt`, `updatedAt`)
SELECT `organizationId`, `id`, `name`, `archivedAt`, `createdAt`, `createdAt` FROM `agents`;
--> statement-breakpoint
DROP TABLE `agents`;
--> statement-breakpoint
ALTER TABLE `__new_agents` RENAME TO `agents`;
--> statement-breakpoint
CREATE TABLE `__new_sessions` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`projectId` text NOT NULL,
	`name` text NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
);
--> statement-breakpoint
INSERT INTO `__new_sessions` (`organizationId`, `id`, `projectId`, `name`, `createdAt`, `updatedAt`)
SELECT `organizationId`, `id`, `projectId`, `title`, `createdAt`, `createdAt` FROM `sessions` WHERE `deletedAt` IS NULL;
--> statement-breakpoint
DROP TABLE `sessions`;
--> statement-breakpoint
ALTER TABLE `__new_sessions` RENAME TO `sessions`;
--> statement-breakpoint
CREATE INDEX `sessionsByProject` ON `sessions` (`organizationId`,`projectId`,`id`);
--> statement-breakpoint
CREATE TABLE `__new_pullRequests` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`projectId` text NOT NULL,
	`name` text NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
);
--> statement-breakpoint
INSERT INTO `__new_pullRequests` (`organizationId`, `id`, `projectId`, `name`, `createdAt`, `updatedAt`)
SELECT `organizationId`, `id`, `projectId`, `title`, `createdAt`, `createdAt` FROM `pullRequests`;
--> statement-breakpoint
DROP TABLE `pullRequests`;
--> statement-breakpoint
ALTER TABLE `__new_pullRequests` RENAME TO `pullRequests`;
--> statement-breakpoint
CREATE INDEX `pullRequestsByProject` ON `pullRequests` (`organizationId`,`projectId`,`id`);
--> statement-breakpoint
CREATE TABLE `__new_sessionFiles` (
	`organizationId` text NOT NULL,
	`sessionId` text NOT NULL,
	`id` text NOT NULL,
	`path` text NOT NULL,
	`objectKey` text NOT NULL,
	`sizeBytes` integer NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `sessionId`, `id`)
);
--> statement-breakpoint
INSERT INTO `__new_sessionFiles` (`organizationId`, `sessionId`, `id`, `path`, `objectKey`, `sizeBytes`, `createdAt`, `updatedAt`)
SELECT `organizationId`, `sessionId`, `id`, CASE WHEN EXISTS (SELECT 1 FROM `sessionFiles` AS `earlier` WHERE `earlier`.`organizationId` = `sessionFiles`.`organizationId`
  AND `earlier`.`sessionId` = `sessionFiles`.`sessionId` AND `earlier`.`path` = `sessionFiles`.`path` AND `earlier`.`id` < `sessionFiles`.`id`)
  THEN `path` || '.' || `id` ELSE `path` END, 'session-files/' || `organizationId` || '/' || `id`, 0, `createdAt`, `updatedAt` FROM `sessionFiles`;
--> statement-breakpoint
DROP TABLE `sessionFiles`;
--> statement-breakpoint
ALTER TABLE `__new_sessionFiles` RENAME TO `sessionFiles`;
--> statement-breakpoint
CREATE UNIQUE INDEX `sessionFilesById` ON `sessionFiles` (`organizationId`,`id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessionFilesByPath` ON `sessionFiles` (`organizationId`,`sessionId`,`path`);
--> statement-breakpoint
ALTER TABLE `apiKeys` ADD `idempotencyKey` text;
--> statement-breakpoint
ALTER TABLE `apiKeys` ADD `rotatedAt` text;
--> statement-breakpoint
CREATE INDEX `apiKeysByUser` ON `apiKeys` (`organizationId`,`userId`,`id`);
--> statement-breakpoint
CREATE INDEX `apiKeysUnrevoked` ON `apiKeys` (`organizationId`,`id`) WHERE "revokedAt" is null;
--> statement-breakpoint
CREATE UNIQUE INDEX `apiKeysByIdempotencyKey` ON `apiKeys` (`organizationId`,`idempotencyKey`) WHERE "idempotencyKey" is not null;
--> statement-breakpoint
ALTER TABLE `profilePictures` ADD `uploadingObjectKey` text;
--> statement-breakpoint
ALTER TABLE `skills` ADD `idempotencyKey` text;
--> statement-breakpoint
ALTER TABLE `skills` ADD `idempotencyFingerprint` text;
--> statement-breakpoint
UPDATE `skills` SET `name` = `name` || '-' || substr(`id`, -12)
WHERE EXISTS (SELECT 1 FROM `skills` AS `earlier` WHERE `earlier`.`organizationId` = `skills`.`organizationId`
  AND `earlier`.`name` = `skills`.`name` AND `earlier`.`id` < `skills`.`id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `skillsByName` ON `skills` (`organizationId`,`name`);
--> statement-breakpoint
CREATE UNIQUE INDEX `skillsByIdempotencyKey` ON `skills` (`organizationId`,`idempotencyKey`) WHERE "idempotencyKey" is not null;
--> statement-breakpoint
CREATE INDEX `pinsByResource` ON `pins` (`organizationId`,`resourceType`,`resourceId`);
