CREATE TABLE `missedSpans` (
	`organizationId` text NOT NULL,
	`scheduleId` text NOT NULL,
	`missedFrom` text NOT NULL,
	`missedUntil` text NOT NULL,
	`parentType` text NOT NULL,
	`parentId` text NOT NULL,
	`cron` text NOT NULL,
	`timezone` text NOT NULL,
	PRIMARY KEY(`organizationId`, `scheduleId`, `missedUntil`)
);
--> statement-breakpoint
CREATE INDEX `missedSpansByAge` ON `missedSpans` (`missedFrom`);--> statement-breakpoint
CREATE TABLE `runEndpoints` (
	`organizationId` text PRIMARY KEY NOT NULL,
	`url` text NOT NULL,
	`sealedSecret` text NOT NULL,
	`previousSealedSecret` text,
	`previousExpiresAt` text,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `runs` (
	`organizationId` text NOT NULL,
	`scheduleId` text NOT NULL,
	`scheduledAt` text NOT NULL,
	`id` text NOT NULL,
	`parentType` text NOT NULL,
	`parentId` text NOT NULL,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`lastError` text,
	`sendAfter` text,
	`createdAt` text NOT NULL,
	`updatedAt` text NOT NULL,
	`idempotencyKey` text,
	PRIMARY KEY(`organizationId`, `scheduleId`, `scheduledAt`)
);
--> statement-breakpoint
CREATE INDEX `runsByStatus` ON `runs` (`organizationId`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `runsToSend` ON `runs` (`sendAfter`) WHERE "sendAfter" is not null;--> statement-breakpoint
CREATE INDEX `runsByAge` ON `runs` (`scheduledAt`);--> statement-breakpoint
CREATE UNIQUE INDEX `runsByIdempotencyKey` ON `runs` (`organizationId`,`scheduleId`,`idempotencyKey`) WHERE "idempotencyKey" is not null;--> statement-breakpoint
ALTER TABLE `schedules` ADD `pausedReason` text;--> statement-breakpoint
CREATE INDEX `schedulesDue` ON `schedules` (`nextRunAt`) WHERE "nextRunAt" is not null;