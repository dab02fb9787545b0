CREATE TABLE `agents` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`archivedAt` text,
	`createdAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
);
--> statement-breakpoint
CREATE TABLE `apiKeys` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`scopes` text NOT NULL,
	`userId` text,
	`projectIds` text,
	`expiresAt` text,
	`revokedAt` text,
	`lastUsedAt` text,
	`createdAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `apiKeysByHash` ON `apiKeys` (`hash`);--> statement-breakpoint
CREATE TABLE `orphanedObjects` (
	`objectKey` text PRIMARY KEY NOT NULL,
	`deleteAfter` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `orphanedObjectsByDeleteAfter` ON `orphanedObjects` (`deleteAfter`);--> statement-breakpoint
CREATE TABLE `environmentVariables` (
	`organizationId` text NOT NULL,
	`projectId` text NOT NULL,
	`key` text NOT NULL,
	`sealedValue` text NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `projectId`, `key`)
);
--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`createdAt` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `pins` (
	`organizationId` text NOT NULL,
	`userId` text NOT NULL,
	`resourceType` text NOT NULL,
	`resourceId` text NOT NULL,
	`position` integer NOT NULL,
	`createdAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `userId`, `resourceType`, `resourceId`)
);
--> statement-breakpoint
CREATE TABLE `profilePictures` (
	`organizationId` text NOT NULL,
	`userId` text NOT NULL,
	`objectKey` text,
	`contentType` text,
	`leaseExpiresAt` text,
	`updatedAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `userId`)
);
--> statement-breakpoint
CREATE TABLE `projects` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`archivedAt` text,
	`createdAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
);
--> statement-breakpoint
CREATE TABLE `pullRequests` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`projectId` text NOT NULL,
	`title` text NOT NULL,
	`createdAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
);
--> statement-breakpoint
CREATE TABLE `schedules` (
	`organizationId` text NOT NULL,
	`parentType` text NOT NULL,
	`parentId` text NOT NULL,
	`id` text NOT NULL,
	`cron` text NOT NULL,
	`timezone` text NOT NULL,
	`enabledAt` text,
	`lastRunAt` text,
	`nextRunAt` text,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`idempotencyKey` text,
	`idempotencyFingerprint` text,
	PRIMARY KEY(`organizationId`, `parentType`, `parentId`, `id`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `schedulesByIdempotencyKey` ON `schedules` (`organizationId`,`parentType`,`parentId`,`idempotencyKey`) WHERE "idempotencyKey" is not null;--> statement-breakpoint
CREATE TABLE `sessionFiles` (
	`organizationId` text NOT NULL,
	`sessionId` text NOT NULL,
	`id` text NOT NULL,
	`path` text NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `sessionId`, `id`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessionFilesById` ON `sessionFiles` (`organizationId`,`id`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`projectId` text NOT NULL,
	`title` text NOT NULL,
	`deletedAt` text,
	`createdAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
);
--> statement-breakpoint
CREATE TABLE `skillFiles` (
	`organizationId` text NOT NULL,
	`skillId` text NOT NULL,
	`filename` text NOT NULL,
	`id` text NOT NULL,
	`content` text NOT NULL,
	PRIMARY KEY(`organizationId`, `skillId`, `filename`)
);
--> statement-breakpoint
CREATE TABLE `skills` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`revision` text NOT NULL,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
);
--> statement-breakpoint
CREATE TABLE `users` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`createdAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
);
