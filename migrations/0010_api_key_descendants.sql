ALTER TABLE `apiKeys` ADD `createdByKeyId` text;--> statement-breakpoint
CREATE INDEX `apiKeysByCreator` ON `apiKeys` (`organizationId`,`createdByKeyId`) WHERE "createdByKeyId" is not null;