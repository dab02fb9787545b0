ALTER TABLE `agents` ADD `revision` text DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE `projects` ADD `revision` text DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE `pullRequests` ADD `revision` text DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE `schedules` ADD `revision` text DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE `sessions` ADD `revision` text DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `revision` text DEFAULT '0' NOT NULL;