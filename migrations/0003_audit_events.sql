CREATE TABLE `auditEvents` (
	`organizationId` text NOT NULL,
	`id` text NOT NULL,
	`operation` text NOT NULL,
	`target` text NOT NULL,
	`apiKeyId` text NOT NULL,
	`userId` text,
	`requestId` text NOT NULL,
	`createdAt` text NOT NULL,
	PRIMARY KEY(`organizationId`, `id`)
);
--> statement-breakpoint
CREATE INDEX `auditEventsByAge` ON `auditEvents` (`createdAt`);