CREATE TABLE `brakes` (
	`kind` text PRIMARY KEY NOT NULL,
	`since` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `organizationBrakes` (
	`organizationId` text NOT NULL,
	`kind` text NOT NULL,
	`since` text NOT NULL,
	PRIMARY KEY(`organizationId`, `kind`)
) WITHOUT ROWID;
